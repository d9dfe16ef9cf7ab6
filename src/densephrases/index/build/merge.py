"""Several segments to one, document by document, by plain copies: where they were parted leaves no trace."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from densephrases.arrays import Mask
from densephrases.index.candidates.search import choose_kind, write_candidates
from densephrases.index.kinds import CandidateKind
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.reader import Segment
from densephrases.index.segment.writer import SegmentWriter

_CANDIDATE_BYTES = 1 << 29


def largest_segment(dim: int) -> int:
    """Rows whose candidate index stays within half a gigabyte, which is in memory while it is built."""
    return _CANDIDATE_BYTES // (dim // 6 + 16)


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring documents of a segment, `last` exclusive."""

    segment: Segment
    first: int
    last: int


def plan_merge(segments: Sequence[Segment], deleted: Sequence[Mask | None], rows: int) -> list[list[Run]]:
    """What goes into each new segment: all documents in order but the deleted, at most `rows` rows if it can be."""
    outputs: list[list[Run]] = [[]]
    room = rows
    for segment, mask in zip(segments, deleted, strict=True):
        document_rows = segment.document_rows
        for first, last in _live_runs(segment, mask):
            while first < last:
                used = document_rows[first : last + 1] - document_rows[first]
                fitting = int(np.searchsorted(used, room, side="right")) - 1
                if fitting == 0 and outputs[-1]:
                    outputs.append([])
                    room = rows
                    continue
                taken = max(fitting, 1)
                outputs[-1].append(Run(segment, first, first + taken))
                room -= int(used[taken])
                first += taken
    return [runs for runs in outputs if runs]


def _live_runs(segment: Segment, deleted: Mask | None) -> Iterator[tuple[int, int]]:
    live = np.ones(segment.documents, dtype=bool) if deleted is None else ~deleted
    changes = np.flatnonzero(np.diff(live, prepend=False, append=False))
    yield from zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)


def is_whole(runs: Sequence[Run]) -> bool:
    """One segment as it is: nothing to copy."""
    return len(runs) == 1 and runs[0].last - runs[0].first == runs[0].segment.documents


def copy_runs(runs: Sequence[Run], folder: Path) -> SegmentEntry:
    """A new segment without candidates."""
    coded = next((run.segment for run in runs if run.segment.rows), runs[0].segment)
    writer = SegmentWriter(folder, coded.store.codec)
    try:
        for run in runs:
            writer.copy(run.segment, run.first, run.last)
        return writer.finish(folder.name, part=False)
    except BaseException:
        writer.abandon()
        raise


def add_candidates(segment: Segment, wanted: CandidateKind | None) -> SegmentEntry:
    """The segment's entry with the candidate index that was asked for, or one that fits its size."""
    kind = choose_kind(segment.store, wanted)
    files = segment.entry.files | write_candidates(segment.store, kind, segment.folder)
    return replace(segment.entry, candidates=kind, part=False, files=files)
