"""Segments of an index as a search sees them: with the rows that may be found.

A row is a kept token of a passage. The rows of a segment are in document order.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.built_once import BuiltOnce
from densephrases.index.cancellation import Check, go_on
from densephrases.index.segment.document_keys import id_hash
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.index.segment.reader import Segment
from densephrases.index.snapshot import Snapshot
from densephrases.search.filtering.filters import Filter
from densephrases.text.hashed_terms import TERMS

_RECORDS_A_CHECK = 1024
_MOST_COUNTED = 1 << 16  # passages of a segment whose terms are counted for a filter, in 50 ms
_FILTERS_KEPT = 8  # whose row masks, one byte per row, stay in memory for the next search

# Shape suffixes: R rows of a segment, P its passages, V all terms, N rows that are asked about.


@dataclass(frozen=True)
class SearchableSegment:
    """A segment with the rows that a search may find, and the numbers of rows, passages and documents they are of.

    Attributes:
        allowed_R: Marks the rows that may be found; None allows all.
        allowed_P: Marks the passages of the documents that may be found; None allows all.
        longest_span: Rows between the first and the last row of the longest phrase of the segment.
    """

    segment: Segment
    allowed_R: Mask | None
    allowed_P: Mask | None
    longest_span: int
    rows: int
    passages: int
    documents: int

    @classmethod
    def with_documents(cls, segment: Segment, allowed: Mask | None) -> "SearchableSegment":
        """The rows of the allowed documents; None allows all."""
        rows_P = np.diff(segment.vector_edges)
        allowed_P = None if allowed is None else allowed[segment.passage_documents]
        found_P = rows_P > 0 if allowed_P is None else allowed_P & (rows_P > 0)
        documents = len(np.unique(segment.passage_documents[found_P]))
        rows, passages = int(rows_P[found_P].sum()), int(found_P.sum())
        allowed_R = None if rows == segment.vectors else np.repeat(found_P, rows_P)
        return cls(segment, allowed_R, allowed_P, segment.longest_span, rows, passages, documents)

    @BuiltOnce
    def known_V(self) -> Mask:  # noqa: N802
        """Marks the terms of the allowed passages; of all, where too many would have to be counted."""
        terms = self.segment.terms
        if self.allowed_P is None:
            return terms.passages_V > 0
        allowed, left_out = np.flatnonzero(self.allowed_P), np.flatnonzero(~self.allowed_P)
        if min(len(allowed), len(left_out)) > _MOST_COUNTED:
            return terms.passages_V > 0
        if len(allowed) < len(left_out):
            return terms.passages_having(allowed) > 0
        return terms.passages_V > terms.passages_having(left_out)

    def listed_rows(self) -> Ints:
        if self.allowed_R is None:
            return np.arange(self.segment.vectors)
        return np.flatnonzero(self.allowed_R)


class FilteredSegments:
    """The segments of an index for each filter; those of the last filters stay in memory."""

    def __init__(self, index: Snapshot) -> None:
        self._index = index
        self._kept: OrderedDict[Filter, list[SearchableSegment]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, wanted: Filter, check: Check = go_on) -> list[SearchableSegment]:
        """Built outside the lock, so that no other filter waits for a slow one."""
        with self._lock:
            known = self._kept.get(wanted)
        segments = searchable_segments(self._index, wanted, check) if known is None else known
        with self._lock:
            self._kept[wanted] = segments
            self._kept.move_to_end(wanted)
            if len(self._kept) > _FILTERS_KEPT:
                self._kept.popitem(last=False)
        return segments


def searchable_segments(index: Snapshot, wanted: Filter, check: Check = go_on) -> list[SearchableSegment]:
    """The segments that have rows of matching documents."""
    pairs = zip(index.segments, index.deleted, strict=True)
    found = [SearchableSegment.with_documents(s, allowed_documents(s, wanted, deleted, check)) for s, deleted in pairs]
    return [each for each in found if each.rows]


def allowed_documents(segment: Segment, wanted: Filter, deleted: Mask | None, check: Check = go_on) -> Mask | None:
    """Marks the documents of a segment that match the filter and are not deleted; None allows all."""
    check()
    if wanted.matches_all:
        return None if deleted is None or not deleted.any() else ~deleted
    allowed = _matching(segment, wanted, deleted, check)
    return allowed if deleted is None else allowed & ~deleted


def _matching(segment: Segment, wanted: Filter, deleted: Mask | None, check: Check) -> Mask:
    """By the segment's indexes of ids and of metadata, which segments of earlier versions lack; ranges by records."""
    matching = np.ones(segment.documents, dtype=bool)
    if wanted.documents is not None:
        matching = _marked(segment, _with_ids(segment, sorted(wanted.documents), check))
    if segment.metadata_index is None and wanted.where:
        return _marked(segment, _selected(segment, wanted.matches, np.flatnonzero(matching), check))
    for key, values in wanted.where:
        check()
        assert segment.metadata_index is not None
        matching &= _marked(segment, segment.metadata_index.documents_with(key, values))
    if not wanted.ranges:
        return matching
    present = matching if deleted is None else matching & ~deleted
    return _marked(segment, _selected(segment, wanted.in_ranges, np.flatnonzero(present), check))


def _with_ids(segment: Segment, ids: Sequence[str], check: Check) -> Ints:
    found: list[int] = []
    for first in range(0, len(ids), _RECORDS_A_CHECK):
        check()
        some = ids[first : first + _RECORDS_A_CHECK]
        found += segment.find_hashed(some, np.array([id_hash(each) for each in some], dtype=np.uint64)).values()
    return np.array(found, dtype=np.int64)


def _selected(segment: Segment, is_wanted: Callable[[DocumentRecord], bool], documents: Ints, check: Check) -> Ints:
    """By the record of each document."""
    found: list[int] = []
    for first in range(0, len(documents), _RECORDS_A_CHECK):
        check()
        some = documents[first : first + _RECORDS_A_CHECK].tolist()
        found += [number for number in some if is_wanted(segment.record(number))]
    return np.array(found, dtype=np.int64)


def _marked(segment: Segment, documents: Ints) -> Mask:
    marks = np.zeros(segment.documents, dtype=bool)
    marks[documents] = True
    return marks


def known_terms(segments: Sequence[SearchableSegment]) -> Mask:
    """Marks the terms of all passages that may be found (V)."""
    return np.asarray(np.logical_or.reduce([np.zeros(TERMS, dtype=bool), *(each.known_V for each in segments)]))


def exact_candidates(segments: Sequence[SearchableSegment]) -> bool:
    return all(each.segment.candidates.exact for each in segments)
