"""A run of query-side fine-tuning on files of questions, as `densephrases train queries` starts it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from densephrases.data.files import read_questions
from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError
from densephrases.index.folder import IndexFolder
from densephrases.model.card import adapted_card
from densephrases.model.folders import resolve
from densephrases.nn.adapted_folder import (
    read_adaptation_source,
    refuse_shared_task,
    refuse_unfit_target,
    save_adapted,
)
from densephrases.train.loop.loop import Observer, Outcome
from densephrases.train.queries.run import learn_queries
from densephrases.train.queries.task import QuerySettings


@dataclass(frozen=True, kw_only=True)
class QueryRecipe(QuerySettings):
    """One run of query-side fine-tuning.

    Attributes:
        index: Folder of the index to retrieve from.
        model: Name of a bundled model or a model folder; its default query encoder is the starting point.
        train: Files of questions with answers.
        dev: File of questions that select the best epoch; None holds out some of the others.
        task: Name under which the model folder keeps the query encoder; None makes it the default of a new folder.
        keep: Files of questions whose vectors shall stay as they are.
        keep_limit: Keep a random sample of this size; None keeps all of them.
        limit: Train on a random sample of this size; None takes all questions.
        dev_limit: The same for `dev`.
    """

    index: Path
    model: str | Path
    train: tuple[Path, ...]
    dev: Path | None = None
    task: str | None = None
    keep: tuple[Path, ...] = ()
    keep_limit: int | None = 20_000
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
    """Trains the query encoder of a recipe and saves it in the model folder `out`; `run` holds its checkpoints."""
    source = resolve(recipe.model)
    questions = [question for path in recipe.train for question in read_questions(path).questions]
    dev = [] if recipe.dev is None else read_questions(recipe.dev).questions
    kept = [question for path in recipe.keep for question in read_questions(path).questions]
    if recipe.rank:
        refuse_shared_task(recipe.task)
    adaptable = read_adaptation_source(source)
    index = IndexFolder.open(recipe.index, adaptable.encoder.product_quantizer)
    refuse_unfit_target(source, out, recipe.task, adaptable.encoder.fingerprint)
    adaptation = learn_queries(
        index,
        adaptable.encoder,
        adaptable.tower,
        sample_questions(questions, recipe.limit, recipe.loop.seed),
        sample_questions(dev, recipe.dev_limit, recipe.loop.seed),
        recipe,
        run,
        observers,
        resume,
        cpu,
        sample_questions(kept, recipe.keep_limit, recipe.loop.seed),
    )
    card = adapted_card(adaptable.tower.config, [path.name for path in recipe.train], adaptation.scores)
    save_adapted(adaptable.tower, source, out, recipe.task, card)
    return Outcome(adaptation.scores, adaptation.coverage)


def sample_questions(questions: Sequence[OpenQuestion], limit: int | None, seed: int) -> list[OpenQuestion]:
    """At most `limit` questions, drawn at random by the seed; all of them in order if there are no more."""
    if limit is not None and limit < 1:
        raise ConfigError(f"limit={limit} leaves no question; expected at least 1, or none to take all.")
    if limit is None or limit >= len(questions):
        return list(questions)
    return [questions[i] for i in np.random.default_rng(seed).permutation(len(questions))[:limit]]
