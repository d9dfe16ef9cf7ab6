"""From files, or from lists of questions and answers, to a model whose query encoder fits them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from densephrases.data.files import read_questions
from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError, DataError, ModelError
from densephrases.index.folder import IndexFolder
from densephrases.model.card import adapted_card
from densephrases.model.encoder import Encoder
from densephrases.model.folders import resolve
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.adapted_folder import read_adaptable, refuse_unfit_target, save_adapted
from densephrases.nn.onnx.restore import restore_questions
from densephrases.nn.phrase_model import TorchEncoder
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower, with_questions
from densephrases.train.loop.loop import LoopConfig, Observer, Outcome
from densephrases.train.queries.relevance import Target
from densephrases.train.queries.run import learn_queries
from densephrases.train.queries.task import Coverage, QuerySettings


@dataclass(frozen=True, kw_only=True)
class QueryRecipe(QuerySettings):
    """One whole run of query-side fine-tuning.

    Attributes:
        index: Folder of the index in which answers are to be found.
        model: A bundled model's name or a model folder, whose default query encoder is the beginning.
        train: Files of questions with answers.
        dev: A file to choose the best epoch by; None keeps the last.
        task: Name of the tower within the model folder; None makes it the default tower of a new folder.
        limit: Learn from so many questions, drawn at random; None takes all.
        dev_limit: Choose by so many.
    """

    index: Path
    model: str | Path
    train: tuple[Path, ...]
    dev: Path | None = None
    task: str | None = None
    limit: int | None = None
    dev_limit: int | None = None


def train_queries(
    recipe: QueryRecipe,
    out: Path,
    run: Path,
    observers: Sequence[Observer] = (),
    resume: bool = True,
    cpu: bool = False,
) -> Outcome:
    """Learns the query encoder of a recipe and saves it in the model folder `out`; `run` holds its checkpoints."""
    source = resolve(recipe.model)
    asked = [question for path in recipe.train for question in read_questions(path).questions]
    dev = [] if recipe.dev is None else read_questions(recipe.dev).questions
    adaptable = read_adaptable(source)
    index = IndexFolder.open(recipe.index, adaptable.encoder.product_quantizer)
    refuse_unfit_target(source, out, recipe.task, adaptable.encoder.fingerprint)
    learned = learn_queries(
        index,
        adaptable.encoder,
        adaptable.tower,
        drawn(asked, recipe.limit, recipe.loop.seed),
        drawn(dev, recipe.dev_limit, recipe.loop.seed),
        recipe,
        run,
        observers,
        resume,
        cpu,
    )
    card = adapted_card(adaptable.tower.config, [path.name for path in recipe.train], learned.scores)
    save_adapted(adaptable.tower, source, out, recipe.task, card)
    return Outcome(learned.scores, learned.coverage)


def drawn(asked: Sequence[OpenQuestion], limit: int | None, seed: int) -> list[OpenQuestion]:
    """So many at random, the same for the same seed."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit={limit} leaves no question; expected at least 1, or none to take all.")
    if limit is None or limit >= len(asked):
        return list(asked)
    return [asked[i] for i in np.random.default_rng(seed).permutation(len(asked))[:limit]]


@dataclass(frozen=True, kw_only=True)
class FitSettings:
    """The options of `PhraseIndex.fit`.

    Attributes:
        target: What must be found: 'phrase', or 'passage', one that contains the answer.
        epochs: Passes over the questions.
        learning_rate: A small model learns faster with 1e-4.
        batch_size: Questions per step.
        top_k: Results that compete for each question.
        seed: Determines the order of questions.
        cpu: Whether to use the CPU even if there is a GPU.
    """

    target: Target = "phrase"
    epochs: int = 10
    learning_rate: float = 3e-5
    batch_size: int = 12
    top_k: int = 100
    seed: int = 42
    cpu: bool = False

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        names = [f.name for f in fields(cls)]
        if unknown := [name for name in options if name not in names]:
            raise ConfigError(f"{unknown[0]!r} is no setting of fit; expected one of {', '.join(names)}.")
        return cls(**options)


@dataclass(frozen=True)
class Adaptation:
    """A query encoder that was learned for an index, and how well it does.

    Attributes:
        encoder: Answers questions with it; `PhraseIndex.fit` has put it in place already.
        scores: On dev, before and after; empty without dev questions.
        coverage: How many questions could be learned from.
    """

    encoder: AdaptedEncoder
    scores: dict[str, float]
    coverage: Coverage

    def save(self, folder: str | Path, task: str | None = None) -> None:
        """As the default tower of a new model folder, or as that of a task within a folder of the same model."""
        out, tower, base = Path(folder), self.encoder.tower, self.encoder.base
        if isinstance(base, OnnxEncoder):
            save_adapted(tower, base.folder, out, task, adapted_card(tower.config, [], self.scores))
        elif isinstance(base, TorchEncoder) and task is None:
            with_questions(base.model, tower).save_pretrained(out, adapted_card(tower.config, [], self.scores))
        else:
            raise ModelError(f"task={task!r} cannot be saved: the model stands in no folder; save without a task.")


def adapt(
    index: IndexFolder,
    encoder: Encoder,
    questions: Sequence[str],
    answers: Sequence[str | Sequence[str]],
    dev: tuple[Sequence[str], Sequence[str | Sequence[str]]] | None,
    settings: FitSettings,
) -> Adaptation:
    """What `PhraseIndex.fit` does; see there."""
    loop = LoopConfig(
        epochs=settings.epochs,
        learning_rate=settings.learning_rate,
        seed=settings.seed,
        evaluate_every=1,
        checkpoint_every=None,
        capture=False,
    )
    query_settings = QuerySettings(
        target=settings.target, top_k=settings.top_k, batch_size=settings.batch_size, processes=1, loop=loop
    )
    base, tower = _parts(encoder)
    judged = [] if dev is None else asked_of(*dev)
    with TemporaryDirectory() as run:
        learned = learn_queries(
            index,
            base,
            tower,
            asked_of(questions, answers),
            judged,
            query_settings,
            Path(run),
            resume=False,
            cpu=settings.cpu,
        )
    return Adaptation(learned.encoder, learned.scores, learned.coverage)


def _parts(encoder: Encoder) -> tuple[Encoder, QuestionTower]:
    """What encodes passages, and a copy of the query encoder to be trained."""
    if isinstance(encoder, AdaptedEncoder):
        base, tower = encoder.base, QuestionTower(encoder.config, encoder.tokens)
        tower.load_state_dict(encoder.tower.state_dict())
    elif isinstance(encoder, OnnxEncoder):
        base, tower = encoder, restore_questions(encoder)
    elif isinstance(encoder, TorchEncoder):
        base, tower = encoder, QuestionTower.of(encoder.model)
    else:
        raise ModelError(
            f"{type(encoder).__name__} has no weights to learn; use a bundled model, a model folder or a PhraseModel."
        )
    tower.config = replace(tower.config, fingerprint=encoder.fingerprint)
    return base, tower


def asked_of(questions: Sequence[str], answers: Sequence[str | Sequence[str]]) -> list[OpenQuestion]:
    """Each question with its answer, or with several that are all right."""
    if isinstance(questions, str) or len(questions) != len(answers):
        raise DataError(
            f"There are {1 if isinstance(questions, str) else len(questions)} questions and {len(answers)} answers; "
            "expected two lists of the same length, with one answer or a list of them for each question."
        )
    return [
        OpenQuestion(str(number), question, (golds,) if isinstance(golds, str) else tuple(golds))
        for number, (question, golds) in enumerate(zip(questions, answers, strict=True), start=1)
    ]
