"""What `PhraseIndex.fit` calls: fine-tunes the query encoder on lists of questions and answers."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from densephrases.data.questions import OpenQuestion
from densephrases.errors import DataError, ModelError
from densephrases.index.folder import IndexFolder
from densephrases.model.encoder import Encoder
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.onnx.restore import restore_questions
from densephrases.nn.phrase_model import TorchEncoder
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower
from densephrases.train.loop.loop import LoopConfig, Observer
from densephrases.train.queries.adaptation import Adaptation
from densephrases.train.queries.run import learn_queries
from densephrases.train.queries.target import Target
from densephrases.train.queries.task import QuerySettings

__all__ = ["Adaptation", "adapt"]


def adapt(
    index: IndexFolder,
    encoder: Encoder,
    questions: Sequence[str],
    answers: Sequence[str | Sequence[str]],
    dev: tuple[Sequence[str], Sequence[str | Sequence[str]]] | None = None,
    *,
    target: Target = "phrase",
    epochs: int = 10,
    learning_rate: float = 3e-5,
    batch_size: int = 12,
    top_k: int = 100,
    seed: int = 42,
    observers: Sequence[Observer] = (),
    cpu: bool = False,
) -> Adaptation:
    """Implements `PhraseIndex.fit`; see there."""
    loop = LoopConfig(
        epochs=epochs, learning_rate=learning_rate, seed=seed, evaluate_every=1, checkpoint_every=None, capture=False
    )
    settings = QuerySettings(target=target, top_k=top_k, batch_size=batch_size, processes=1, loop=loop)
    base, tower = _base_and_tower(encoder)
    train, held_out = open_questions(questions, answers), [] if dev is None else open_questions(*dev)
    with TemporaryDirectory() as run:
        return learn_queries(index, base, tower, train, held_out, settings, Path(run), observers, False, cpu)


def _base_and_tower(encoder: Encoder) -> tuple[Encoder, QuestionTower]:
    """The encoder of passages, and a copy of the query encoder to train."""
    if isinstance(encoder, AdaptedEncoder):
        base, tower = encoder.base, QuestionTower(encoder.config, encoder.tokens)
        tower.load_state_dict(encoder.tower.state_dict())
    elif isinstance(encoder, OnnxEncoder):
        base, tower = encoder, restore_questions(encoder)
    elif isinstance(encoder, TorchEncoder):
        base, tower = encoder, QuestionTower.of(encoder.model)
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
