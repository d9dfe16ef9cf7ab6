"""How many passages of a collection have each term: what inverse document frequencies are computed from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from densephrases.arrays import Ints
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.index.snapshot import Snapshot
from densephrases.text.hashed_terms import TERMS

_NO_PASSAGES = np.zeros(0, dtype=np.int64)

# Shape suffixes: V all terms, P passages.


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How many passages a collection has, and how many of them have each term."""

    passages: int
    having_V: Ints

    @classmethod
    def from_snapshot(cls, index: Snapshot) -> Self:
        """Without those of deleted documents."""
        pairs = list(zip(index.segments, index.deleted, strict=True))
        gone = [_NO_PASSAGES if marks is None else np.flatnonzero(marks[s.passage_documents]) for s, marks in pairs]
        return cls.from_segments([segment.terms for segment in index.segments], gone)

    @classmethod
    def from_segments(cls, segments: Sequence[SegmentTerms], gone: Sequence[Ints] | None = None) -> Self:
        """Of all passages but those that are gone, given for each segment by their numbers."""
        passages = 0
        having_V = np.zeros(TERMS, dtype=np.int64)
        for segment, gone_P in zip(segments, gone or [_NO_PASSAGES] * len(segments), strict=True):
            passages += segment.passages - len(gone_P)
            having_V += segment.passages_V - segment.passages_having(gone_P)
        return cls(passages, having_V)

    def __add__(self, other: "TermCounts") -> "TermCounts":
        return TermCounts(self.passages + other.passages, self.having_V + other.having_V)
