"""Which examples meet in a batch, decided by the seed alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from densephrases.train.phrases.examples import PassageExample
from densephrases.train.phrases.hard_negatives import HardNegatives

POOL_BATCHES = 32  # passages are sorted by length within pools of so many batches
LENGTH_NOISE = 0.5  # of its logarithm: neighbours are of similar length, yet others in each epoch

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """How a batch is composed.

    Attributes:
        questions: Questions in a batch, the paper's B.
        per_passage: At most so many questions of a passage meet in one batch (None: all of them); 1 encodes
            a passage anew for every question, as the original does.
        neighbours: So many passages of one article, or so many that a model confuses, stand together as harder
            negatives for each other.
    """

    questions: int = 84
    per_passage: int | None = None
    neighbours: int = 1


def plan_epoch(
    examples: Sequence[PassageExample],
    plan: BatchPlan,
    seed: int,
    epoch: int,
    hard_negatives: HardNegatives | None = None,
) -> list[list[PassageExample]]:
    """The batches of an epoch: every question once, in an order that depends on seed and epoch only."""
    rng = np.random.default_rng((seed, epoch))
    pieces = [piece for example in examples for piece in _split_questions(example, plan.per_passage, rng)]
    units = _units(pieces, plan.neighbours, rng, hard_negatives)
    return length_pools(
        units,
        size=lambda unit: sum(len(p.questions) for p in unit),
        length=lambda unit: max(len(p.window.ids) for p in unit),
        capacity=plan.questions,
        rng=rng,
    )


def draw_generated(examples: Sequence[PassageExample], share: float, seed: int, epoch: int) -> Sequence[PassageExample]:
    """All annotated questions and a share of the generated ones, drawn anew for each epoch."""
    if share == 1:
        return examples
    rng = np.random.default_rng((seed, epoch, 1))  # other dice than those of the plan
    drawn = []
    for example in examples:
        questions = tuple(q for q in example.questions if not q.generated or rng.random() < share)
        if questions:
            drawn.append(replace(example, questions=questions))
    return drawn


def _split_questions(example: PassageExample, limit: int | None, rng: np.random.Generator) -> list[PassageExample]:
    if limit is None or len(example.questions) <= limit:
        return [example]
    order = rng.permutation(len(example.questions))
    pieces = np.array_split(order, -(-len(order) // limit))
    return [replace(example, questions=tuple(example.questions[i] for i in piece)) for piece in pieces]


def _units(
    pieces: list[PassageExample], neighbours: int, rng: np.random.Generator, hard_negatives: HardNegatives | None
) -> list[list[PassageExample]]:
    if neighbours == 1:
        return [[piece] for piece in pieces]
    if hard_negatives is not None:
        return _confused(pieces, neighbours, rng, hard_negatives)
    units = []
    for _, group in groupby(pieces, key=lambda piece: piece.article):
        article = list(group)
        order = _by_length(article, rng)
        units += [[article[i] for i in order[at : at + neighbours]] for at in range(0, len(order), neighbours)]
    return units


def _by_length(article: list[PassageExample], rng: np.random.Generator) -> NDArray[np.int64]:
    """An order in which passages of similar length come together, as a batch is filled up to its longest one."""
    lengths = np.log([len(piece.window.ids) for piece in article])
    return np.argsort(lengths + LENGTH_NOISE * rng.random(len(article)))


def _confused(
    pieces: list[PassageExample], neighbours: int, rng: np.random.Generator, hard_negatives: HardNegatives
) -> list[list[PassageExample]]:
    """Each passage that is left, in random order, takes along the likeliest of those it is confused with."""
    waiting: dict[int, list[PassageExample]] = {}
    for i in rng.permutation(len(pieces)):
        waiting.setdefault(pieces[i].passage, []).append(pieces[i])
    units = []
    for passage in list(waiting):
        while waiting[passage]:
            unit = [waiting[passage].pop()]
            others = (other for other in hard_negatives[passage] if waiting.get(other))
            unit += [waiting[other].pop() for other in islice(others, neighbours - 1)]
            units.append(unit)
    return units


def length_pools(
    units: Sequence[Sequence[Item]],
    *,
    size: Callable[[Sequence[Item]], int],
    length: Callable[[Sequence[Item]], int],
    capacity: int,
    rng: np.random.Generator,
) -> list[list[Item]]:
    """Shuffled units gathered into batches of about `capacity`, units of similar length together."""
    order = rng.permutation(len(units))
    sizes = np.array([size(units[i]) for i in order])
    pool_size = capacity * POOL_BATCHES
    pools = np.minimum((np.cumsum(sizes) - sizes) // pool_size, max(sizes.sum() // pool_size - 1, 0))  # no small rest
    batches: list[list[Item]] = []
    for pool in np.unique(pools):
        members = order[pools == pool]
        members = members[np.argsort([length(units[i]) for i in members], kind="stable")]
        filled = np.cumsum([size(units[i]) for i in members])
        count = max(round(filled[-1] / capacity), 1)
        numbers = np.minimum((filled - 1) * count // filled[-1], count - 1)
        batches += [[item for i in members[numbers == n] for item in units[i]] for n in np.unique(numbers)]
    return [batches[i] for i in rng.permutation(len(batches))]
