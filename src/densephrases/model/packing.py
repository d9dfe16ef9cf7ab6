"""Tokenised passages as flat arrays, and the order in which a GPU computes them without padding.

A handful of numpy operations handles a million tokens: no Python code runs for each passage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Ints, ranges
from densephrases.model.tokenizer import TokenizedPassage

# Shape suffixes: P passages, T their tokens, W windows, C columns of all windows in turn, N the same columns in
# computing order.


@dataclass(frozen=True, slots=True)
class PackedPassages:
    """Many `TokenizedPassage`s, small enough to be sent between processes.

    Attributes:
        ids_C: Token ids of all windows, one after the other.
        types_C: Their token types.
        lengths_W: Number of columns of each window.
        owns_W2: Range of columns whose results are taken from the window; over all windows, these are all tokens.
        begins_T: Offset of each token in its passage's text.
        widths_T: Number of characters of each token.
        max_spans_T: Number of further tokens that a phrase starting here may have.
        tokens_P: Number of tokens of each passage.
    """

    ids_C: NDArray[np.int32]
    types_C: NDArray[np.uint8]
    lengths_W: Ints
    owns_W2: Ints
    begins_T: NDArray[np.uint16]
    widths_T: NDArray[np.uint16]
    max_spans_T: NDArray[np.uint8]
    tokens_P: Ints

    @classmethod
    def from_tokenized(cls, passages: Sequence[TokenizedPassage]) -> Self:
        windows = [window for passage in passages for window in passage.windows]
        offsets_T2 = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(p.offsets for p in passages)])
        max_spans_T = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(p.max_span - np.arange(len(p.max_span)) for p in passages)]
        )
        assert (offsets_T2 <= np.iinfo(np.uint16).max).all()
        assert (max_spans_T <= np.iinfo(np.uint8).max).all()
        owns = [(window.own_columns.start, window.own_columns.stop) for window in windows]
        return cls(
            np.concatenate(
                [np.zeros(0, dtype=np.int32), *(window.ids for window in windows)], dtype=np.int32, casting="unsafe"
            ),
            np.concatenate(
                [np.zeros(0, dtype=np.uint8), *(window.types for window in windows)], dtype=np.uint8, casting="unsafe"
            ),
            np.array([len(window.ids) for window in windows], dtype=np.int64),
            np.array(owns, dtype=np.int64).reshape(-1, 2),
            offsets_T2[:, 0].astype(np.uint16),
            (offsets_T2[:, 1] - offsets_T2[:, 0]).astype(np.uint16),
            max_spans_T.astype(np.uint8),
            np.array([len(passage.offsets) for passage in passages], dtype=np.int64),
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))

    @property
    def tokens(self) -> int:
        return len(self.begins_T)


class Group(NamedTuple):
    """Neighbouring windows of equal length: their attention is one call without a mask."""

    first: int  # of its columns, within the batch
    windows: int
    length: int


class Batch(NamedTuple):
    """Columns that are computed at once and the windows they belong to, both in computing order."""

    columns: slice
    windows: slice
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Packing:
    """Windows sorted by length, longest first, and divided into batches of about equal size."""

    ids_N: NDArray[np.int32]
    columns_N: NDArray[np.int32]  # position within the window
    types_N: NDArray[np.uint8]
    edges_W: NDArray[np.int32]  # where each window begins, and where the last one ends
    positions_T: Ints  # position of each token of the passages in computing order
    batches: tuple[Batch, ...]

    @classmethod
    def from_passages(cls, packed: PackedPassages, tokens_per_batch: int) -> Self:
        order_W = np.argsort(-packed.lengths_W, kind="stable")
        lengths_W = packed.lengths_W[order_W]
        edges = _edges(lengths_W)
        _, sources_N = ranges(_edges(packed.lengths_W)[:-1][order_W], lengths_W)
        columns_N = np.arange(edges[-1]) - np.repeat(edges[:-1], lengths_W)
        positions_C = np.empty(len(sources_N), dtype=np.int64)
        positions_C[sources_N] = np.arange(len(sources_N))
        owned_W = packed.owns_W2[:, 1] - packed.owns_W2[:, 0]
        _, own_T = ranges(_edges(packed.lengths_W)[:-1] + packed.owns_W2[:, 0], owned_W)
        return cls(
            packed.ids_C[sources_N],
            columns_N.astype(np.int32),
            packed.types_C[sources_N],
            edges.astype(np.int32),
            positions_C[own_T],
            tuple(_batches(lengths_W, edges, tokens_per_batch)),
        )


def _edges(lengths: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)])


def _batches(lengths_W: Ints, edges: Ints, tokens_per_batch: int) -> list[Batch]:
    total = int(edges[-1])
    count = -(-total // tokens_per_batch)
    cuts = np.searchsorted(edges, np.linspace(0, total, count + 1)).tolist() if count else [0]
    return [_batch(lengths_W, edges, slice(a, b)) for a, b in pairwise(cuts) if a < b]


def _batch(lengths_W: Ints, edges: Ints, windows: slice) -> Batch:
    lengths_W, edges = lengths_W[windows], edges[windows.start : windows.stop + 1]
    begins = np.flatnonzero(np.diff(lengths_W, prepend=-1))
    counts = np.diff(begins, append=len(lengths_W))
    groups = zip((edges[begins] - edges[0]).tolist(), counts.tolist(), lengths_W[begins].tolist(), strict=True)
    return Batch(slice(int(edges[0]), int(edges[-1])), windows, tuple(Group(*group) for group in groups))
