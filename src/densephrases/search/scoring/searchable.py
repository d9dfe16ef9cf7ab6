"""What is searched: segments with rows in document order, their stored vectors, and which rows may be found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints, Mask
from densephrases.search.filters import Filter

Integers = NDArray[np.integer[Any]]

# Shape suffixes: R rows of a segment, P its passages, D vector size, B questions, K candidates of a question,
# H candidate rows of a batch, N phrases or whatever else is listed.


class Store(Protocol):
    def own_scores(self, queries_BD: Floats, rows_N: Ints, edges_B: Ints) -> Floats:
        """The inner products (N) of each query with the stored vectors of its rows, from its edge to the next."""


class Candidates(Protocol):
    @property
    def exact(self) -> bool:
        """Whether no row that is left out has a higher score than one that is listed, whatever the effort."""

    def search(
        self, queries_BD: Floats, k: int, allowed: Mask | None, effort: float, oversample: int
    ) -> tuple[Floats, Ints]:
        """Scores and rows (B, K), best first, of `oversample` times k rows; row -1 where there are fewer.

        The effort 1 is exact.
        """


class DocumentRecord(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


class Terms(Protocol):
    """The words of a segment's passages."""

    @property
    def passages(self) -> int: ...
    @property
    def passages_V(self) -> Ints:  # noqa: N802
        """How many passages have each term."""

    def contain(self, passages_N: Ints, terms_N: NDArray[np.uint16]) -> Mask:
        """Whether each passage has each term."""


class Segment(Protocol):
    """Ints are the kept tokens of its passages in document order."""

    @property
    def rows(self) -> int: ...
    @property
    def documents(self) -> int: ...
    def places(self, rows_N: Ints) -> Ints:
        """Where tokens begin: the characters before them in their passage, and the passage's own place."""

    def lengths(self, rows_N: Ints) -> Ints:
        """The characters of tokens."""

    def max_span(self, rows_N: Ints) -> Ints:
        """How many further rows a phrase that begins at each may include; it never crosses a passage."""

    @property
    def longest_span(self) -> int:
        """Of all rows."""

    @property
    def passage_bytes(self) -> Integers:
        """Any numbers from which the places of a passage's tokens are counted."""

    @property
    def passage_rows(self) -> Integers:
        """The first row of each passage, and the number of rows."""

    @property
    def passage_documents(self) -> Integers: ...
    @property
    def passage_offsets(self) -> Integers:
        """The first character of each passage, counted in its document."""

    @property
    def terms(self) -> Terms:
        """The words of passages and titles."""

    @property
    def store(self) -> Store: ...
    @property
    def candidates(self) -> Candidates: ...
    def passage_text(self, passage: int) -> str: ...
    def record(self, document: int) -> DocumentRecord: ...


class Index(Protocol):
    @property
    def segments(self) -> Sequence[Segment]: ...
    @property
    def deleted(self) -> Sequence[Mask | None]:
        """For each segment which of its documents are deleted; None if none is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A segment and those of its rows, passages and documents that a search may find."""

    segment: Segment
    allowed_R: Mask | None
    longest_span: int
    rows: int
    passages: int
    documents: int

    @classmethod
    def of(cls, segment: Segment, allowed_documents: Mask | None) -> "Part":
        """The rows of the allowed documents; None allows all."""
        rows_P = np.diff(segment.passage_rows)
        found_P = rows_P > 0
        if allowed_documents is not None:
            found_P &= allowed_documents[segment.passage_documents]
        documents = len(np.unique(segment.passage_documents[found_P]))
        rows, passages = int(rows_P[found_P].sum()), int(found_P.sum())
        allowed_R = None if rows == segment.rows else np.repeat(found_P, rows_P)
        return cls(segment, allowed_R, segment.longest_span, rows, passages, documents)

    def listed_rows(self) -> Ints:
        if self.allowed_R is None:
            return np.arange(self.segment.rows)
        return np.flatnonzero(self.allowed_R)


def allowed_documents(segment: Segment, wanted: Filter, deleted: Mask | None) -> Mask | None:
    """Marks the documents of a segment that match the filter and are not deleted; None allows all."""
    if wanted.matches_all:
        return None if deleted is None or not deleted.any() else ~deleted
    matches = (wanted.matches(segment.record(number)) for number in range(segment.documents))
    allowed = np.fromiter(matches, dtype=bool, count=segment.documents)
    return allowed if deleted is None else allowed & ~deleted


def exact_candidates(parts: Sequence[Part]) -> bool:
    return all(part.segment.candidates.exact for part in parts)


def passages_of(segment: Segment, rows_N: Ints) -> Ints:
    return np.asarray(np.searchsorted(segment.passage_rows, rows_N, side="right") - 1)
