"""Tokenised passages as a few flat arrays, and the order in which a device computes them without any padding.

Everything here is a handful of numpy operations for a million tokens: no Python for each passage.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.model.tokenizer import TokenizedPassage

Integers = NDArray[np.int64]

# Shape suffixes: P passages, T their tokens, W windows, C columns of all windows in turn, N the same columns in the
# order in which they are computed.


@dataclass(frozen=True, slots=True)
class PackedPassages:
    """What `TokenizedPassage` says of one, of many passages and small enough to be sent between processes.

    Attributes:
        ids_C: Token ids of all windows, one after the other.
        types_C: Their types.
        lengths_W: How many columns each window has.
        owns_W2: The columns whose results are taken from this window; those of all windows are all tokens in turn.
        begins_T: Where each token begins in its passage's text.
        widths_T: How many characters it has.
        max_spans_T: How many further tokens a phrase that begins here may take.
        tokens_P: How many tokens each passage has.
    """

    ids_C: NDArray[np.int32]
    types_C: NDArray[np.uint8]
    lengths_W: Integers
    owns_W2: Integers
    begins_T: NDArray[np.uint16]
    widths_T: NDArray[np.uint16]
    max_spans_T: NDArray[np.uint8]
    tokens_P: Integers

    @classmethod
    def of(cls, passages: Sequence[TokenizedPassage]) -> Self:
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
    """What is computed at once: some columns and the windows they make up, both in computing order."""

    columns: slice
    windows: slice
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Packing:
    """Windows sorted by length, longest first, and cut into batches of about equal size."""

    ids_N: NDArray[np.int32]
    columns_N: NDArray[np.int32]  # place within the window
    types_N: NDArray[np.uint8]
    edges_W: NDArray[np.int32]  # where each window begins, and where the last one ends
    places_T: Integers  # where in computing order each token of the passages stands
    batches: tuple[Batch, ...]

    @classmethod
    def of(cls, packed: PackedPassages, tokens_per_batch: int) -> Self:
        order_W = np.argsort(-packed.lengths_W, kind="stable")
        lengths_W = packed.lengths_W[order_W]
        edges = _edges(lengths_W)
        sources_N = _ranges(_edges(packed.lengths_W)[:-1][order_W], lengths_W)
        columns_N = np.arange(edges[-1]) - np.repeat(edges[:-1], lengths_W)
        places_C = np.empty(len(sources_N), dtype=np.int64)
        places_C[sources_N] = np.arange(len(sources_N))
        owned = packed.owns_W2[:, 1] - packed.owns_W2[:, 0]
        own_T = _ranges(_edges(packed.lengths_W)[:-1] + packed.owns_W2[:, 0], owned)
        return cls(
            packed.ids_C[sources_N],
            columns_N.astype(np.int32),
            packed.types_C[sources_N],
            edges.astype(np.int32),
            places_C[own_T],
            tuple(_batches(lengths_W, edges, tokens_per_batch)),
        )


def _edges(lengths: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths)])


def _ranges(starts: Integers, lengths: Integers) -> Integers:
    """All numbers from each start on, as many as its length says."""
    edges = _edges(lengths)
    return np.repeat(starts - edges[:-1], lengths) + np.arange(edges[-1])


def _batches(lengths_W: Integers, edges: Integers, tokens_per_batch: int) -> list[Batch]:
    total = int(edges[-1])
    count = -(-total // tokens_per_batch)
    cuts = np.searchsorted(edges, np.linspace(0, total, count + 1)).tolist() if count else [0]
    return [_batch(lengths_W, edges, slice(a, b)) for a, b in pairwise(cuts) if a < b]


def _batch(lengths_W: Integers, edges: Integers, windows: slice) -> Batch:
    lengths_W, edges = lengths_W[windows], edges[windows.start : windows.stop + 1]
    begins = np.flatnonzero(np.diff(lengths_W, prepend=-1))
    counts = np.diff(begins, append=len(lengths_W))
    groups = zip((edges[begins] - edges[0]).tolist(), counts.tolist(), lengths_W[begins].tolist(), strict=True)
    return Batch(slice(int(edges[0]), int(edges[-1])), windows, tuple(Group(*group) for group in groups))
