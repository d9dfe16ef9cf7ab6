"""The end of a build: ids compared, partial segments of all tasks merged as a plain build merges them, one commit."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Ints
from densephrases.atomic_files import sync_folder
from densephrases.cluster.build.build_area import BuildArea, segment_name
from densephrases.cluster.build.duplicate_ids import Hashed, refuse_duplicates
from densephrases.cluster.build.encoder_actor import MergeJob, SourceSegment
from densephrases.cluster.build.segment_files import local_segment
from densephrases.cluster.build.task_records import TaskRecord
from densephrases.index.build.merge import Span, largest_segment, plan_spans
from densephrases.index.manifest import DELETED_FOLDER, MANIFEST_FILE, SEGMENTS_FOLDER, Manifest, SegmentEntry
from densephrases.index.own_files import remove_unnamed
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.index.segment.files import ARRAYS, array_file
from densephrases.index.segment.reader import Segment
from densephrases.index.settings import IndexSettings
from densephrases.index.snapshot import Snapshot
from densephrases.version import __version__

_THREADS = 16
_PLANNED_BY = ("id_hashes", "id_documents", "document_passages", "vector_edges")  # arrays that the driver reads


class PartialSegments:
    """The segments of all tasks in reading order; of those in a store, only a few arrays are fetched."""

    def __init__(self, area: BuildArea, records: Sequence[TaskRecord], settings: IndexSettings, scratch: Path) -> None:
        self._area = area
        self._settings = settings
        self._scratch = scratch
        self.sources = [SourceSegment(record.folder, entry) for record in records for entry in record.segments]
        self.roots = _joined_roots(records)
        with ThreadPoolExecutor(_THREADS, "fetch") as executor:
            self._folders = list(executor.map(self._planning_folder, self.sources))

    def _planning_folder(self, source: SourceSegment) -> Path:
        return self._folder(source, *map(array_file, _PLANNED_BY))

    def _folder(self, source: SourceSegment, *files: str) -> Path:
        name = segment_name(source.attempt, source.entry.name)
        return local_segment(self._area.store, name, source.entry, self._scratch, *files)

    def _array(self, number: int, name: str) -> NDArray[Any]:
        return np.fromfile(self._folders[number] / array_file(name), dtype=ARRAYS[name])

    def refuse_duplicates(self) -> None:
        """Raise DataError if two documents have one id."""
        refuse_duplicates([self._hashes(number) for number in range(len(self.sources))], self._record)

    def _hashes(self, number: int) -> NDArray[np.uint64]:
        """In the order of documents; the file has them sorted."""
        found = np.empty(self.sources[number].entry.documents, dtype=np.uint64)
        found[self._array(number, "id_documents")] = self._array(number, "id_hashes")
        return found

    def _record(self, place: Hashed) -> DocumentRecord:
        source = self.sources[place.segment]
        folder = self._folder(source)  # all files
        return Segment(folder, source.entry, self._settings).record(place.document)

    def plan(self, names: Iterator[str], encoders: int, cores: int) -> list[MergeJob]:
        """One job for each segment of the index."""
        live = [Span(number, 0, source.entry.documents) for number, source in enumerate(self.sources)]
        edges_of = lru_cache(maxsize=1)(self._document_vectors)
        outputs = plan_spans(live, edges_of, largest_segment(self._settings.dim))
        threads = max(cores * encoders // max(len(outputs), 1), cores)
        return [self._job(spans, next(names), threads) for spans in outputs]

    def _document_vectors(self, number: int) -> Ints:
        passages = self._array(number, "document_passages")
        return np.asarray(self._array(number, "vector_edges")[passages], dtype=np.int64)

    def _job(self, spans: Sequence[Span], name: str, threads: int) -> MergeJob:
        first = spans[0].segment
        sources = tuple(self.sources[first : spans[-1].segment + 1])
        return MergeJob(name, sources, tuple(span._replace(segment=span.segment - first) for span in spans), threads)


def _joined_roots(records: Sequence[TaskRecord]) -> dict[str, dict[str, str]]:
    roots: dict[str, dict[str, str]] = {}
    for record in records:
        for name, root in record.roots.items():
            roots.setdefault(name, root)
    return roots


def free_names(area: BuildArea) -> Iterator[str]:
    """Of segments: those that a stopped merge has left are not used again."""
    used = {name.split("/")[1] for name in area.store.names(SEGMENTS_FOLDER)}
    first = max((int(name) for name in used if name.isdigit()), default=0) + 1
    return (f"{number:06d}" for number in count(first))


def commit(
    area: BuildArea, settings: IndexSettings, entries: Sequence[SegmentEntry], roots: Mapping[str, dict[str, str]]
) -> Manifest:
    """Write the manifest, by which the place becomes an index, then remove what belongs to the build alone."""
    number = max((int(entry.name) for entry in entries), default=0) + 1
    manifest = Manifest(settings, __version__, tuple(entries), next_number=number, roots=dict(roots))
    folder = area.store.folder
    if folder is None:
        with TemporaryDirectory() as scratch:
            manifest.save(Path(scratch))
            area.store.write(MANIFEST_FILE, (Path(scratch) / MANIFEST_FILE).read_bytes())
        return manifest
    for place in (SEGMENTS_FOLDER, DELETED_FOLDER):
        (folder / place).mkdir(exist_ok=True)
        sync_folder(folder / place)
    Snapshot(folder, manifest)  # all files are there, in their sizes
    manifest.save(folder)
    return manifest


def remove_build(area: BuildArea, manifest: Manifest) -> None:
    """What belongs to the build alone, after the index is there."""
    folder = area.store.folder
    if folder is not None:
        remove_unnamed(folder, manifest)
    else:
        named = manifest.files()
        area.store.remove([name for name in area.store.names(SEGMENTS_FOLDER) if name not in named])
    area.remove()
