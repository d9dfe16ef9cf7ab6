"""The result of query-side fine-tuning: a query encoder for one index, its scores, and how to save it."""

from dataclasses import dataclass
from pathlib import Path

from densephrases.errors import ModelError
from densephrases.model.card import adapted_card
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.adapted_folder import save_adapted
from densephrases.nn.phrase_model import TorchEncoder
from densephrases.nn.question_tower import AdaptedEncoder, with_questions


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many training questions had a relevant result; in an epoch without one, a question is skipped."""

    questions: int
    hits: tuple[int, ...]  # questions with a relevant result, for each epoch

    def __str__(self) -> str:
        first, last = (f"{self.questions - hits:,}" for hits in (self.hits[0], self.hits[-1]))
        return f"{self.questions:,}, of which {first} were skipped in the first epoch and {last} in the last"


@dataclass(frozen=True)
class Adaptation:
    """A query encoder that was fine-tuned for an index.

    Attributes:
        encoder: Encodes questions with it; `PhraseIndex.fit` has already put it in place.
        scores: On dev, before and after; empty without dev questions.
        coverage: How many questions were learned from.
    """

    encoder: AdaptedEncoder
    scores: dict[str, float]
    coverage: Coverage

    def save(self, folder: str | Path, task: str | None = None) -> None:
        """Saves it as the default query encoder of a new model folder, or as that of a task in the model's folder."""
        out, tower, base = Path(folder), self.encoder.tower, self.encoder.base
        if isinstance(base, OnnxEncoder):
            save_adapted(tower, base.folder, out, task, adapted_card(tower.config, [], self.scores))
        elif isinstance(base, TorchEncoder) and task is None:
            with_questions(base.model, tower).save_pretrained(out, adapted_card(tower.config, [], self.scores))
        else:
            raise ModelError(
                f"task={task!r} cannot be saved: the model was not loaded from a folder; save it without a task."
            )
