"""Merges segments by copying documents in order: the result does not depend on where they were split."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.index.candidates.by_kind import choose_kind, write_candidates
from densephrases.index.kinds import CandidateKind
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.reader import Segment
from densephrases.index.segment.writer import SegmentWriter

_CANDIDATE_BYTES = 1 << 29


def largest_segment(dim: int) -> int:
    """Token vectors whose candidate index takes at most half a gigabyte, all of it in memory while it is built."""
    return _CANDIDATE_BYTES // (dim // 6 + 16)


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive documents of a segment, `last` exclusive; `records`, if any, replace those that it has of them."""

    segment: Segment
    first: int
    last: int
    records: tuple[bytes, ...] | None = None


class Span(NamedTuple):
    """Consecutive documents of a segment by its number, `last` exclusive."""

    segment: int
    first: int
    last: int


def plan_merge(segments: Sequence[Segment], deleted: Sequence[Mask | None], most: int) -> list[list[Run]]:
    """The documents of each new segment, in order, without deleted ones; `most` vectors, or a single document."""
    live = [
        Span(number, first, last)
        for number, (segment, mask) in enumerate(zip(segments, deleted, strict=True))
        for first, last in _live_runs(segment, mask)
    ]
    outputs = plan_spans(live, lambda number: segments[number].document_vectors, most)
    return [[Run(segments[span.segment], span.first, span.last) for span in spans] for spans in outputs]


def plan_spans(live: Iterable[Span], edges_of: Callable[[int], Ints], most: int) -> list[list[Span]]:
    """The same of segments that are not open: `edges_of` gives the first vector of each document, and the last edge."""
    outputs: list[list[Span]] = [[]]
    room = most
    for segment, first, last in live:
        edges = edges_of(segment)
        while first < last:
            used = edges[first : last + 1] - edges[first]
            fitting = int(np.searchsorted(used, room, side="right")) - 1
            if fitting == 0 and outputs[-1]:
                outputs.append([])
                room = most
                continue
            taken = max(fitting, 1)
            outputs[-1].append(Span(segment, first, first + taken))
            room -= int(used[taken])
            first += taken
    return [spans for spans in outputs if spans]


def even_size(segments: Sequence[Segment], deleted: Sequence[Mask | None], count: int) -> int:
    """The fewest vectors that a new segment may have, so that there are no more than `count` of them."""
    runs = [(each, *run) for each, mask in zip(segments, deleted, strict=True) for run in _live_runs(each, mask)]
    total = sum(int(each.document_vectors[last] - each.document_vectors[first]) for each, first, last in runs)
    if count == 1:
        return total
    sizes = range(-(-total // count), total + 1)
    return sizes.start + bisect_left(sizes, True, key=lambda most: len(plan_merge(segments, deleted, most)) <= count)


def _live_runs(segment: Segment, deleted: Mask | None) -> Iterator[tuple[int, int]]:
    live = np.ones(segment.documents, dtype=bool) if deleted is None else ~deleted
    changes = np.flatnonzero(np.diff(live, prepend=False, append=False))
    yield from zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)


def is_whole(runs: Sequence[Run]) -> bool:
    """Whether it is one segment without deletions, which need not be copied."""
    return len(runs) == 1 and runs[0].last - runs[0].first == runs[0].segment.documents


def copy_runs(runs: Sequence[Run], folder: Path, *, partial: bool = False) -> SegmentEntry:
    """A new segment without candidates."""

    def copy(writer: SegmentWriter) -> None:
        for run in runs:
            run.segment.verify_unblocked()  # else damage would be copied and get a checksum that matches it
            writer.copy(run.segment, run.first, run.last, run.records)

    return _copied([run.segment for run in runs], folder, copy, partial=partial)


def join_parts(parts: Sequence[Segment], folder: Path) -> SegmentEntry:
    """A partial segment of one document, of which each segment has a part."""
    return _copied(parts, folder, lambda writer: writer.join(parts), partial=True)


def _copied(
    sources: Sequence[Segment], folder: Path, copy: Callable[[SegmentWriter], None], *, partial: bool
) -> SegmentEntry:
    """A new segment with the codec of those that it is copied from; one without vectors has none that counts."""
    writer = SegmentWriter(folder, next((each for each in sources if each.vectors), sources[0]).store.codec)
    try:
        copy(writer)
        return writer.finish(folder.name, partial=partial)
    except BaseException:
        writer.abandon()
        raise


def add_candidates(segment: Segment, wanted: CandidateKind | None) -> SegmentEntry:
    """The segment's entry with the candidate index that was asked for, or one that fits its size."""
    segment.verify_unblocked()
    kind = choose_kind(segment.store, wanted)
    files = segment.entry.files | write_candidates(segment.store, kind, segment.folder)
    return replace(segment.entry, candidates=kind, partial=False, files=files)
