"""The files that the documents of an index came from, as they were when they were read."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Self

import numpy as np

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
    """By root and path. Of documents only numbers are kept: a file may have millions."""

    def __init__(self, snapshot: Snapshot, files: dict[FileKey, KnownFile]) -> None:
        self._snapshot = snapshot
        self.files = files

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> Self:
        files: dict[FileKey, KnownFile] = {}
        for number, (segment, deleted) in enumerate(zip(snapshot.segments, snapshot.deleted, strict=True)):
            present = range(segment.documents) if deleted is None else np.flatnonzero(~deleted).tolist()
            for document in present:
                if (source := segment.record(document).file) is not None:
                    known = files.setdefault((source.root, source.path), KnownFile(source))
                    known.places.append((number << _DOCUMENT_BITS) + document)
        return cls(snapshot, files)

    def ids(self, known: KnownFile) -> Iterator[str]:
        for place in known.places:
            segment, document = divmod(place, 1 << _DOCUMENT_BITS)
            yield self._snapshot.segments[segment].record(document).id
