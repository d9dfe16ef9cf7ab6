"""The hashed terms of passages and their titles, in two bytes for each term of a passage."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Ints, owners, ranges
from densephrases.index.files.checked import CheckedArray
from densephrases.text.hashed_terms import TERMS, terms
from densephrases.text.passages import Passage

TERM_ARRAYS = {
    "term_edges": "<i8",  # first of each passage's terms, one more than passages
    "terms": "<u2",  # distinct and sorted within a passage
}
COUNTS_FILE = "term_counts.bin"  # document frequencies: in how many passages each term occurs, compressed
_COUNTS = np.dtype("<u4")

# Shape suffixes: P passages, T terms of all passages in turn, V all possible terms, N pairs of a passage and a term.


@dataclass(frozen=True, slots=True)
class PassageTerms:
    """The terms of some passages, to be written."""

    terms_T: NDArray[np.uint16]
    counts_P: Ints

    @classmethod
    def from_passages(cls, passages: Sequence[Passage]) -> Self:
        found = [sorted(terms(f"{passage.title}\n{passage.section}\n{passage.text}")) for passage in passages]
        counts_P = np.array([len(each) for each in found], dtype=np.int64)
        return cls(np.fromiter(chain.from_iterable(found), np.uint16, int(counts_P.sum())), counts_P)

    @classmethod
    def join(cls, several: Sequence[Self]) -> Self:
        return cls(
            np.concatenate([np.zeros(0, dtype=np.uint16), *(each.terms_T for each in several)]),
            np.concatenate([np.zeros(0, dtype=np.int64), *(each.counts_P for each in several)]),
        )


@dataclass(frozen=True, slots=True)
class SegmentTerms:
    """The terms of a segment's passages; arrays may be mapped."""

    edges_P: Ints
    terms_T: CheckedArray
    passages_V: Ints

    @classmethod
    def open(cls, edges_P: Ints, terms: CheckedArray, counts: NDArray[np.uint8]) -> Self:
        """Raises ValueError if the counts are not those of all possible terms."""
        return cls(edges_P, terms, _unpacked(counts))

    @classmethod
    def from_passages(cls, passages: Sequence[Passage]) -> Self:
        """In memory."""
        found = PassageTerms.from_passages(passages)
        edges_P = np.cumsum([0, *found.counts_P])
        return cls(edges_P, CheckedArray(found.terms_T), np.bincount(found.terms_T, minlength=TERMS))

    @property
    def passages(self) -> int:
        return len(self.edges_P) - 1

    def contain(self, passages_N: Ints, terms_N: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Whether the passage of each pair has its term: one binary search for all pairs in step."""
        if len(self.terms_T) == 0:
            return np.zeros(len(passages_N), dtype=bool)
        low_N, stop_N = self.edges_P[passages_N], self.edges_P[passages_N + 1]
        high_N = stop_N
        self.terms_T.verify_ranges(low_N, stop_N)
        terms_T = self.terms_T.values
        for _ in range(int((stop_N - low_N).max(initial=0)).bit_length()):
            middle_N = (low_N + high_N) >> 1
            # Where a search has ended, the middle is the end of the passage, which may be the end of the array.
            below_N = (terms_T.take(middle_N, mode="clip") < terms_N) & (middle_N < high_N)
            low_N, high_N = np.where(below_N, middle_N + 1, low_N), np.where(below_N, high_N, middle_N)
        return np.asarray((low_N < stop_N) & (terms_T.take(low_N, mode="clip") == terms_N))

    def passages_with(self, terms: Sequence[int]) -> Ints:
        """The passages that have all of some terms, ascending; one scan for the rarest of them."""
        rarest = min(terms, key=lambda term: int(self.passages_V[term]))
        if not self.passages_V[rarest]:
            return np.zeros(0, dtype=np.int64)
        found_P = owners(self.edges_P, np.flatnonzero(self.terms_T[:] == rarest))
        for term in terms:
            found_P = found_P[self.contain(found_P, np.full(len(found_P), term, dtype=np.uint16))]
        return found_P

    def passages_having(self, passages_N: Ints) -> Ints:
        """In how many of some passages each term occurs (V)."""
        first_N = self.edges_P[passages_N]
        _, chosen = ranges(first_N, self.edges_P[passages_N + 1] - first_N)
        return np.bincount(self.terms_T[chosen], minlength=TERMS)

    def of_passages(self, first: int, last: int) -> PassageTerms:
        edges_P = self.edges_P[first : last + 1]
        return PassageTerms(self.terms_T[int(edges_P[0]) : int(edges_P[-1])], np.diff(edges_P))


def _unpacked(counts: NDArray[np.uint8]) -> Ints:
    size = TERMS * _COUNTS.itemsize
    try:
        unpacker = zlib.decompressobj()
        unpacked = unpacker.decompress(counts.tobytes(), size + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(unpacked) != size or not unpacker.eof:
        raise ValueError(f"it does not hold {TERMS} counts")
    return np.frombuffer(unpacked, _COUNTS).astype(np.int64)


class TermWriter:
    """Takes passages in order; `append` receives the name of an array and the next values of it."""

    def __init__(self, append: Callable[[str, Any], None]) -> None:
        self._append = append
        self._terms = 0
        self._passages_V = np.zeros(TERMS, dtype=np.int64)
        append("term_edges", [0])

    def add(self, passages: PassageTerms) -> None:
        self._append("term_edges", self._terms + np.cumsum(passages.counts_P))
        self._append("terms", passages.terms_T)
        self._passages_V += np.bincount(passages.terms_T, minlength=TERMS)
        self._terms += len(passages.terms_T)

    def finish(self) -> bytes:
        """The content of the file of counts."""
        return zlib.compress(self._passages_V.astype(_COUNTS).tobytes())
