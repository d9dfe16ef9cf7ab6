"""Composition of batches; it depends on the seed and the epoch only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from densephrases.train.phrases.examples import PassageExample, QuestionExample
from densephrases.train.phrases.hard_negatives import HardNegatives

POOL_BATCHES = 32  # number of batches in a pool, within which passages are sorted by length
LENGTH_NOISE = 0.5  # noise on the log of the length, so that groups of similar length differ between epochs

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """Composition of a batch.

    Attributes:
        questions: Questions per batch, the paper's B.
        questions_per_passage: Maximum number of questions per passage and batch; None takes all of them, 1 encodes
            the passage once per question, as the original does.
        passages_per_group: Passages that are put into one batch as negatives for each other: passages of one
            article, or hard negatives if there are any.
    """

    questions: int = 84
    questions_per_passage: int | None = None
    passages_per_group: int = 1


def plan_epoch(
    examples: Sequence[PassageExample],
    plan: BatchPlan,
    seed: int,
    epoch: int,
    hard_negatives: HardNegatives | None = None,
    unasked: Mapping[int, PassageExample] | None = None,
) -> list[list[PassageExample]]:
    """The batches of an epoch: every question once, in an order that depends on seed and epoch only.

    Passages without questions, `unasked` by their number, serve as hard negatives of any group.
    """
    rng = np.random.default_rng((seed, epoch))
    pieces = [piece for example in examples for piece in _split_questions(example, plan.questions_per_passage, rng)]
    groups = _groups(pieces, plan.passages_per_group, rng, hard_negatives, unasked or {})
    return length_pools(
        groups,
        size=lambda unit: sum(len(p.questions) for p in unit),
        length=lambda unit: max(len(p.window.ids) for p in unit),
        capacity=plan.questions,
        rng=rng,
    )


def draw_generated(examples: Sequence[PassageExample], share: float, seed: int, epoch: int) -> Sequence[PassageExample]:
    """All annotated questions and a random share of the generated ones, another for each epoch."""
    if share == 1:
        return examples
    rng = np.random.default_rng((seed, epoch, 1))  # independent of the plan's generator
    drawn = []
    for example in examples:
        questions = tuple(q for q in example.questions if not q.generated or rng.random() < share)
        if questions:
            drawn.append(replace(example, questions=questions))
    return drawn


def as_typed(examples: Sequence[PassageExample], share: float, seed: int, epoch: int) -> Sequence[PassageExample]:
    """A random share of the questions in one of their typed variants, another for each epoch."""
    if share == 0:
        return examples
    rng = np.random.default_rng((seed, epoch, 2))
    return [replace(e, questions=tuple(_perhaps_typed(q, share, rng) for q in e.questions)) for e in examples]


def _perhaps_typed(question: QuestionExample, share: float, rng: np.random.Generator) -> QuestionExample:
    if not question.typed or rng.random() >= share:
        return question
    ids, terms = question.typed[rng.integers(len(question.typed))]
    return replace(question, ids=ids, terms=terms)


def _split_questions(example: PassageExample, limit: int | None, rng: np.random.Generator) -> list[PassageExample]:
    if limit is None or len(example.questions) <= limit:
        return [example]
    order = rng.permutation(len(example.questions))
    pieces = np.array_split(order, -(-len(order) // limit))
    first, *others = [replace(example, questions=tuple(example.questions[i] for i in piece)) for piece in pieces]
    return [first, *(replace(piece, unanswerable=()) for piece in others)]


def _groups(
    pieces: list[PassageExample],
    size: int,
    rng: np.random.Generator,
    hard_negatives: HardNegatives | None,
    unasked: Mapping[int, PassageExample],
) -> list[list[PassageExample]]:
    if size == 1:
        return [[piece] for piece in pieces]
    if hard_negatives is not None:
        return _with_hard_negatives(pieces, size, rng, hard_negatives, unasked)
    groups = []
    for _, of_article in groupby(pieces, key=lambda piece: piece.article):
        article = list(of_article)
        order = _by_length(article, rng)
        groups += [[article[i] for i in order[at : at + size]] for at in range(0, len(order), size)]
    return groups


def _by_length(article: list[PassageExample], rng: np.random.Generator) -> NDArray[np.int64]:
    """An order by approximate length: passages of similar length need little padding."""
    lengths = np.log([len(piece.window.ids) for piece in article])
    return np.argsort(lengths + LENGTH_NOISE * rng.random(len(article)))


def _with_hard_negatives(
    pieces: list[PassageExample],
    size: int,
    rng: np.random.Generator,
    hard_negatives: HardNegatives,
    unasked: Mapping[int, PassageExample],
) -> list[list[PassageExample]]:
    """Groups each passage, in random order, with the hardest of its negatives that are not yet in a group.

    A passage without questions may be in many groups.
    """
    waiting: dict[int, list[PassageExample]] = {}
    for i in rng.permutation(len(pieces)):
        waiting.setdefault(pieces[i].passage, []).append(pieces[i])
    groups = []
    for passage in list(waiting):
        while waiting[passage]:
            group = [waiting[passage].pop()]
            others = (other for other in hard_negatives[passage] if waiting.get(other) or other in unasked)
            group += [
                unasked[other] if other in unasked else waiting[other].pop() for other in islice(others, size - 1)
            ]
            groups.append(group)
    return groups


def length_pools(
    units: Sequence[Sequence[Item]],
    *,
    size: Callable[[Sequence[Item]], int],
    length: Callable[[Sequence[Item]], int],
    capacity: int,
    rng: np.random.Generator,
) -> list[list[Item]]:
    """Shuffled units combined into batches of total size `capacity`, approximately, and of similar length."""
    order = rng.permutation(len(units))
    sizes = np.array([size(units[i]) for i in order])
    pool_size = capacity * POOL_BATCHES
    # the last pool takes the remainder
    pools = np.minimum((np.cumsum(sizes) - sizes) // pool_size, max(sizes.sum() // pool_size - 1, 0))
    batches: list[list[Item]] = []
    for pool in np.unique(pools):
        members = order[pools == pool]
        members = members[np.argsort([length(units[i]) for i in members], kind="stable")]
        filled = np.cumsum([size(units[i]) for i in members])
        count = max(round(filled[-1] / capacity), 1)
        numbers = np.minimum((filled - 1) * count // filled[-1], count - 1)
        batches += [[item for i in members[numbers == n] for item in units[i]] for n in np.unique(numbers)]
    return [batches[i] for i in rng.permutation(len(batches))]
