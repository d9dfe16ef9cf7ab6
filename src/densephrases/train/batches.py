"""Which examples meet in a batch, decided by the seed alone, and the batch as tensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from densephrases.model.batches import pad_rows, token_batch
from densephrases.model.tokens import Window
from densephrases.train.examples import PassageExample
from densephrases.train.teacher import Distributions

POOL_BATCHES = 32  # passages are sorted by length within pools of so many batches

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """How a batch is composed.

    Attributes:
        questions: Questions in a batch, the paper's B.
        per_passage: At most so many questions of a passage meet in one batch (None: all of them); 1 encodes
            a passage anew for every question, as the original does.
        neighbours: So many passages of one article stand together, as harder negatives for each other.
    """

    questions: int = 84
    per_passage: int | None = None
    neighbours: int = 1


def plan_epoch(
    examples: Sequence[PassageExample], plan: BatchPlan, seed: int, epoch: int
) -> list[list[PassageExample]]:
    """The batches of an epoch: every question once, in an order that depends on seed and epoch only."""
    rng = np.random.default_rng((seed, epoch))
    pieces = [piece for example in examples for piece in _split_questions(example, plan.per_passage, rng)]
    units = _units(pieces, plan.neighbours, rng)
    return length_pools(
        units,
        size=lambda unit: sum(len(p.questions) for p in unit),
        length=lambda unit: max(len(p.window.ids) for p in unit),
        capacity=plan.questions,
        rng=rng,
    )


def _split_questions(example: PassageExample, limit: int | None, rng: np.random.Generator) -> list[PassageExample]:
    if limit is None or len(example.questions) <= limit:
        return [example]
    order = rng.permutation(len(example.questions))
    pieces = np.array_split(order, -(-len(order) // limit))
    return [replace(example, questions=tuple(example.questions[i] for i in piece)) for piece in pieces]


def _units(pieces: list[PassageExample], neighbours: int, rng: np.random.Generator) -> list[list[PassageExample]]:
    if neighbours == 1:
        return [[piece] for piece in pieces]
    units = []
    for _, group in groupby(pieces, key=lambda piece: piece.article):
        article = list(group)
        order = rng.permutation(len(article))
        units += [[article[i] for i in order[at : at + neighbours]] for at in range(0, len(order), neighbours)]
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


@dataclass(frozen=True)
class Tensors:
    """A batch whose tensors travel together."""

    def to(self, device: torch.device) -> Self:
        moved = {f.name: _to(getattr(self, f.name), device) for f in fields(self)}
        return replace(self, **moved)


def _to(value: Any, device: torch.device) -> Any:
    if isinstance(value, Tensors):
        return value.to(device)
    if isinstance(value, Tensor):
        pinned = value.pin_memory() if device.type == "cuda" else value
        return pinned.to(device, non_blocking=True)
    return value


@dataclass(frozen=True)
class Inputs(Tensors):
    ids: Tensor
    types: Tensor
    mask: Tensor

    @property
    def arguments(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.ids, self.types, self.mask

    @property
    def tokens(self) -> int:
        """Tokens without padding."""
        return int(self.mask.sum())


def inputs(ids: Sequence[NDArray[np.int64]], types: Sequence[NDArray[np.int64]], pad_id: int) -> Inputs:
    batch = token_batch(ids, types, pad_id, multiple=8)  # as matrix units and attention kernels like it
    return Inputs(*(torch.from_numpy(array) for array in (batch.ids, batch.types, batch.mask)))


@dataclass(frozen=True)
class PhraseBatch(Tensors):
    """Shapes: P passages, T tokens of a passage window, Q questions, K occurrences of an answer."""

    passages: Inputs
    questions: Inputs
    content_PT: Tensor  # True on tokens of the passage's text
    owner_Q: Tensor  # the row of each question's passage
    starts_QK: Tensor  # columns of the answer's first tokens, -1 where there are fewer than K
    ends_QK: Tensor
    answer_Q: Tensor
    passage_Q: Tensor  # the passage's number in the data
    teacher_start_QT: Tensor | None  # log-probabilities
    teacher_end_QT: Tensor | None


def collate(examples: Sequence[PassageExample], pad_id: int, teacher: Distributions | None = None) -> PhraseBatch:
    windows = [e.window for e in examples]
    pairs = [(row, question) for row, e in enumerate(examples) for question in e.questions]
    passages = inputs([w.ids for w in windows], [w.types for w in windows], pad_id)
    width = passages.ids.shape[1]
    spans = [np.array(q.spans) + windows[row].first - windows[row].start for row, q in pairs]
    question_ids = [q.ids for _, q in pairs]
    owners = [windows[row] for row, _ in pairs]
    teacher_start, teacher_end = None, None
    if teacher is not None:
        known = [teacher[q.id] for _, q in pairs]
        teacher_start, teacher_end = (spread([k[side] for k in known], owners, width) for side in (0, 1))
    return PhraseBatch(
        passages=passages,
        questions=inputs(question_ids, [np.zeros_like(ids) for ids in question_ids], pad_id),
        content_PT=torch.from_numpy(content_mask(windows, width)),
        owner_Q=torch.tensor([row for row, _ in pairs]),
        starts_QK=torch.from_numpy(pad_rows([s[:, 0] for s in spans], -1, np.int64)),
        ends_QK=torch.from_numpy(pad_rows([s[:, 1] for s in spans], -1, np.int64)),
        answer_Q=torch.tensor([q.answer for _, q in pairs]),
        passage_Q=torch.tensor([examples[row].passage for row, _ in pairs]),
        teacher_start_QT=teacher_start,
        teacher_end_QT=teacher_end,
    )


def content_mask(windows: Sequence[Window], width: int) -> NDArray[np.bool_]:
    """True on the columns that hold passage text, not title, question, special tokens or padding."""
    columns = np.arange(width)
    first = np.array([w.first for w in windows])[:, None]
    count = np.array([w.stop - w.start for w in windows])[:, None]
    return np.asarray((columns >= first) & (columns < first + count))


def spread(rows: Sequence[NDArray[np.float32]], windows: Sequence[Window], width: int) -> Tensor:
    """Log-probabilities over a passage's tokens, put where its window has them; -inf elsewhere."""
    result = np.full((len(rows), width), -np.inf, dtype=np.float32)
    for target, row, w in zip(result, rows, windows, strict=True):
        target[w.first : w.first + w.stop - w.start] = row[w.start : w.stop]
    return torch.from_numpy(result)
