"""The files that the documents of an index came from, as they were when they were read."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from densephrases.index.snapshot import Snapshot
from densephrases.text.documents import SourceFile

FileKey = tuple[str, str]  # name of the root, and path below it
_DOCUMENT_BITS = 32


@dataclass(slots=True)
class KnownFile:
    """A file, and where its documents are: numbers of segments and documents in one."""

    source: SourceFile
    places: "array[int]" = field(default_factory=lambda: array("Q"))

    @property
    def documents(self) -> int:
        return len(self.places)

    def is_same(self, source: SourceFile) -> bool:
        return (self.source.size, self.source.modified_ns) == (source.size, source.modified_ns)


class KnownFiles:
    """By root and path. Of documents only numbers are kept: a file may have millions.

    Args:
        snapshot: Of the index.
        scan: Whether all records are read at once, to know all files; else files are looked up one by one.
    """

    def __init__(self, snapshot: Snapshot, *, scan: bool) -> None:
        self._snapshot = snapshot
        self._scanned = scan
        self.files: dict[FileKey, KnownFile] = {}
        for number, segment in enumerate(snapshot.segments if scan else ()):
            self._collect(number, range(segment.documents))

    def get(self, key: FileKey) -> KnownFile | None:
        if key not in self.files and not self._scanned:
            self._look_up(key)
        return self.files.get(key)

    def _look_up(self, key: FileKey) -> None:
        """By the path among the metadata. Where those of a record hide it, the file is not found and read again."""
        for number, segment in enumerate(self._snapshot.segments):
            if segment.metadata_index is not None:  # else an earlier version wrote it, which knew of no files
                self._collect(number, segment.metadata_index.documents_with("path", [key[1]]).tolist(), key)

    def _collect(self, number: int, documents: Iterable[int], wanted: FileKey | None = None) -> None:
        segment, deleted = self._snapshot.segments[number], self._snapshot.deleted[number]
        for document in documents:
            source = None if deleted is not None and deleted[document] else segment.record(document).file
            if source is not None and wanted in (None, (source.root, source.path)):
                known = self.files.setdefault((source.root, source.path), KnownFile(source))
                known.places.append((number << _DOCUMENT_BITS) + document)

    def ids(self, known: KnownFile) -> Iterator[str]:
        for place in known.places:
            segment, document = divmod(place, 1 << _DOCUMENT_BITS)
            yield self._snapshot.segments[segment].record(document).id
