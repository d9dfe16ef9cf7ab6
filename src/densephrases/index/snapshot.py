"""The segments of one manifest, opened for reading. A snapshot stays the same while others write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Mask
from densephrases.errors import PhraseIndexError
from densephrases.index.files.checked import CheckedFile, as_array
from densephrases.index.files.durable import DAMAGE_REMEDY, FileEntry
from densephrases.index.files.mapped import map_file
from densephrases.index.manifest import DELETED_FOLDER, SEGMENTS_FOLDER, Manifest, SegmentEntry
from densephrases.index.segment.document_keys import id_hash
from densephrases.index.segment.reader import Segment
from densephrases.quantize.codebooks import ProductQuantizer


@dataclass(frozen=True, slots=True)
class DocumentLocation:
    """A document by its number in a segment."""

    segment: int
    document: int


class Snapshot:
    """The segments of an index and their deletion marks."""

    def __init__(
        self, folder: Path, manifest: Manifest, pq: ProductQuantizer | None = None, before: Self | None = None
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self._pq = pq
        opened = {} if before is None else {segment.name: segment for segment in before.segments}
        try:
            self.segments: list[Segment] = [self._segment(entry, opened.get(entry.name)) for entry in manifest.segments]
            self.deleted: list[Mask | None] = [self._deleted(entry) for entry in manifest.segments]
            """For each segment the documents that are deleted, None if none is."""
        except FileNotFoundError as error:
            raise PhraseIndexError(f"'{error.filename}' is missing; {DAMAGE_REMEDY}.") from error

    def _segment(self, entry: SegmentEntry, opened: Segment | None) -> Segment:
        """As it was opened before, if nothing but its deletion marks has changed."""
        if opened is not None and opened.entry.unmarked() == entry.unmarked():
            return opened
        return Segment(self.folder / SEGMENTS_FOLDER / entry.name, entry, self.manifest.settings, self._pq)

    def _deleted(self, entry: SegmentEntry) -> Mask | None:
        if entry.deleted_entry is None:
            return None
        path = self.folder / DELETED_FOLDER / entry.deleted_file
        file = CheckedFile(path, map_file(path), entry.deleted_entry, None)
        marks = as_array(file, file.whole(), "<u4", entry.deleted)
        if len(marks) and int(marks.max()) >= entry.documents:
            raise file.damaged(f"it marks document {int(marks.max())} of {entry.documents}")
        mask = np.zeros(entry.documents, dtype=bool)
        mask[marks] = True
        return mask

    def locate(self, identifiers: Sequence[str]) -> dict[str, DocumentLocation]:
        """The documents with these ids; those that are deleted or not there are left out."""
        hashes = np.array([id_hash(identifier) for identifier in identifiers], dtype=np.uint64)
        found = {}
        for number, (segment, mask) in enumerate(zip(self.segments, self.deleted, strict=True)):
            for position, document in segment.find_hashed(identifiers, hashes).items():
                if mask is None or not mask[document]:
                    found[identifiers[position]] = DocumentLocation(number, document)
        return found

    def refuse_wrong_sizes(self) -> None:
        for name, entry in self._files():
            if problem := self._size_problem(name, entry):
                raise PhraseIndexError(problem)

    def problems(self) -> list[str]:
        """A sentence for each file that is not what was written."""
        found = []
        for name, entry in self._files():
            problem = self._size_problem(name, entry) or self._problem(name, entry)
            found += [problem] if problem else []
        return found

    def _problem(self, name: str, entry: FileEntry) -> str:
        differs = FileEntry.from_file(self.folder / name) != entry
        return f"'{self.folder / name}' is damaged: its checksum differs; {DAMAGE_REMEDY}." if differs else ""

    def problems_of_small_files(self, most_bytes: int) -> Iterator[str]:
        """As `problems`, but only the smallest files are read, at most so many bytes; of others the size counts."""
        for name, entry in sorted(self._files(), key=lambda file: file[1].size):
            most_bytes -= entry.size
            if problem := self._size_problem(name, entry) or (most_bytes >= 0 and self._problem(name, entry)) or "":
                yield problem

    def _files(self) -> list[tuple[str, FileEntry]]:
        return [file for segment in self.manifest.segments for file in segment.paths()]

    def _size_problem(self, name: str, entry: FileEntry) -> str:
        path = self.folder / name
        if not path.is_file():
            return f"'{path}' is missing; {DAMAGE_REMEDY}."
        if (size := path.stat().st_size) != entry.size:
            return f"'{path}' has {size} bytes, {entry.size} were written; {DAMAGE_REMEDY}."
        return ""


def deletion_marks(mask: Mask) -> NDArray[np.uint32]:
    """The numbers of the deleted documents, as they are stored."""
    return np.flatnonzero(mask).astype("<u4")
