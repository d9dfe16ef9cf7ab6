"""What `PhraseIndex.fit` calls: fine-tunes the query encoder on lists of questions and answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError, DataError, ModelError
from densephrases.index.folder import IndexFolder
from densephrases.model.encoder import Encoder
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.onnx.restore import restore_questions
from densephrases.nn.phrase_model import TorchEncoder
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.queries.adaptation import Adaptation
from densephrases.train.queries.fit_progress import FitProgress, ProgressObserver
from densephrases.train.queries.run import learn_queries
from densephrases.train.queries.target import Target
from densephrases.train.queries.task import QuerySettings

__all__ = ["Adaptation", "FitProgress", "adapt"]


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """The options of `PhraseIndex.fit`.

    Attributes:
        target: What must be found: 'phrase', or 'passage', one that contains the answer.
        epochs: Passes over the questions.
        learning_rate: A small model learns faster with 1e-4.
        batch_size: Questions per step.
        top_k: Results that compete for each question.
        rank: Train matrices of this rank beside the backbone that questions share with passages, so that a saved model
            hardly grows; 0 trains a backbone of their own.
        seed: Determines the order of questions.
        cpu: Whether to use the CPU even if there is a GPU.
        hold_out: Share of the questions that select the best epoch, if no others are given for that.
    """

    target: Target = "phrase"
    epochs: int = 10
    learning_rate: float = 3e-5
    batch_size: int = 12
    top_k: int = 100
    rank: int = 0
    seed: int = 42
    cpu: bool = False
    hold_out: float = 0.2

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        names = [f.name for f in fields(cls)]
        if unknown := [name for name in options if name not in names]:
            raise ConfigError(f"{unknown[0]!r} is no setting of fit; expected one of {', '.join(names)}.")
        return cls(**options)


def adapt(
    index: IndexFolder,
    encoder: Encoder,
    questions: Sequence[str],
    answers: Sequence[str | Sequence[str]],
    dev: tuple[Sequence[str], Sequence[str | Sequence[str]]] | None,
    settings: FitSettings,
    progress: Callable[[FitProgress], None] | None = None,
) -> Adaptation:
    """Implements `PhraseIndex.fit`; see there."""
    loop = LoopConfig(
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        seed=settings.seed,
        evaluate_every=1,
        checkpoint_every=None,
        capture=False,
    )
    query_settings = QuerySettings(
        target=settings.target,
        top_k=settings.top_k,
        rank=settings.rank,
        batch_size=settings.batch_size,
        processes=1,
        hold_out=settings.hold_out,
        loop=loop,
    )
    base, tower = _base_and_tower(encoder)
    train, held_out = open_questions(questions, answers), [] if dev is None else open_questions(*dev)
    observers = [] if progress is None else [ProgressObserver(progress)]
    with TemporaryDirectory() as run:
        return learn_queries(
            index, base, tower, train, held_out, query_settings, Path(run), observers, resume=False, cpu=settings.cpu
        )


def _base_and_tower(encoder: Encoder) -> tuple[Encoder, QuestionTower]:
    """The encoder of passages, and a copy of the query encoder to train."""
    if isinstance(encoder, AdaptedEncoder):
        base, tower = encoder.base, QuestionTower(encoder.tower.whole_config, encoder.tokens)
        tower.load_state_dict(encoder.tower.state_dict())
    elif isinstance(encoder, OnnxEncoder):
        base, tower = encoder, restore_questions(encoder)
    elif isinstance(encoder, TorchEncoder):
        base, tower = encoder, QuestionTower.from_model(encoder.model)
    else:
        raise ModelError(
            f"{type(encoder).__name__} has no weights to train; use a bundled model, a model folder or a PhraseModel."
        )
    tower.config = replace(tower.config, fingerprint=encoder.fingerprint)
    return base, tower


def open_questions(questions: Sequence[str], answers: Sequence[str | Sequence[str]]) -> list[OpenQuestion]:
    """Each question with its accepted answers: one string, or several."""
    if isinstance(questions, str) or len(questions) != len(answers):
        raise DataError(
            f"There are {1 if isinstance(questions, str) else len(questions)} questions and {len(answers)} answers; "
            "expected two lists of the same length, with one answer or a list of them for each question."
        )
    return [
        OpenQuestion(str(number), question, (accepted,) if isinstance(accepted, str) else tuple(accepted))
        for number, (question, accepted) in enumerate(zip(questions, answers, strict=True), start=1)
    ]
