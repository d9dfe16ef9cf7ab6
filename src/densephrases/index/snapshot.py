"""The segments of one manifest, opened for reading. A snapshot stays the same while others write."""

from collections.abc import Iterable, Iterator, Sequence
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
from densephrases.index.fitted_confidence import fitted_confidences
from densephrases.index.manifest import DELETED_FOLDER, SEGMENTS_FOLDER, Manifest, SegmentEntry
from densephrases.index.segment.document_keys import PreparedDocument, id_hash
from densephrases.index.segment.reader import Segment
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.text.documents import Document


@dataclass(frozen=True, slots=True, order=True)
class DocumentLocation:
    """A document by its number in a segment."""

    segment: int
    document: int


def evenly_spread(stored: int, count: int) -> list[int]:
    """At most `count` places at equal distances among so many."""
    places: list[int] = np.unique(np.linspace(0, stored - 1, min(count, stored), dtype=np.int64)).tolist()
    return places


class Snapshot:
    """The segments of an index and their deletion marks."""

    def __init__(
        self, folder: Path, manifest: Manifest, pq: ProductQuantizer | None = None, before: Self | None = None
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self._pq = pq
        self.segments: list[Segment] = []
        self.deleted: list[Mask | None] = []
        """For each segment the documents that are deleted, None if none is."""
        opened = {} if before is None else before._opened()
        try:
            for entry in manifest.segments:
                old, segment, mask = opened.get(entry.name, (None, None, None))
                is_same = old is not None and old.unmarked() == entry.unmarked()
                self.segments.append(segment if is_same and segment is not None else self._segment(entry))
                self.deleted.append(mask if old == entry else self._deleted(entry))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise PhraseIndexError(f"'{error.filename}' is missing; {DAMAGE_REMEDY}.") from error

    def _opened(self) -> dict[str, tuple[SegmentEntry, Segment, Mask | None]]:
        """Segments by name, with the entries they were opened by and their deletion marks."""
        entries = self.manifest.segments
        return {each[0].name: each for each in zip(entries, self.segments, self.deleted, strict=True)}

    def parts(self, prepared: PreparedDocument) -> list[Segment]:
        """The parts of a document that a stopped build has left; no search sees them."""
        return [self._segment(part.segment) for part in self.manifest.parts_of(prepared.document.id, prepared.digest)]

    def _segment(self, entry: SegmentEntry) -> Segment:
        return Segment(self.folder / SEGMENTS_FOLDER / entry.name, entry, self.manifest.settings, self._pq)

    def _deleted(self, entry: SegmentEntry) -> Mask | None:
        if entry.deleted_entry is None:
            return None
        path = self.folder / DELETED_FOLDER / entry.deleted_file
        file = CheckedFile(path, map_file(path, entry.deleted_entry.size), entry.deleted_entry, None)
        marks = as_array(file, file.whole(), "<u4", entry.deleted)
        if len(marks) and int(marks.max()) >= entry.documents:
            raise file.damaged(f"it marks document {int(marks.max())} of {entry.documents}")
        mask = np.zeros(entry.documents, dtype=bool)
        mask[marks] = True
        return mask

    def documents_at(self, places: Iterable[int]) -> Iterator[Document]:
        """The documents at these places among all that are stored, without deleted ones."""
        edges = np.cumsum([0, *(segment.documents for segment in self.segments)])
        for place in places:
            number = int(np.searchsorted(edges, place, side="right")) - 1
            deleted, document = self.deleted[number], place - int(edges[number])
            if deleted is None or not deleted[document]:
                yield self.segments[number].document(document)

    def locate(self, identifiers: Sequence[str]) -> dict[str, DocumentLocation]:
        """The documents with these ids; those that are deleted or not there are left out."""
        hashes = np.array([id_hash(identifier) for identifier in identifiers], dtype=np.uint64)
        found = {}
        for number, (segment, mask) in enumerate(zip(self.segments, self.deleted, strict=True)):
            for position, document in segment.find_hashed(identifiers, hashes).items():
                if mask is None or not mask[document]:
                    found[identifiers[position]] = DocumentLocation(number, document)
        return found

    def problems_of_small_files(self, most_bytes: int) -> Iterator[str]:
        """Like `problems`, but reads at most `most_bytes`, smallest files first; of the others it compares sizes."""
        files = self.manifest.files()
        for name, entry in sorted(files.items(), key=lambda file: file[1].size):
            most_bytes -= entry.size
            problem = _problem(self.folder / name, entry, reading=most_bytes >= 0)
            if problem and Manifest.load(self.folder).files().get(name) == entry:  # else others have removed it
                yield problem


def problems(folder: Path) -> list[str]:
    """Read every file of an index; a sentence for each that is not what was written."""
    files = Manifest.load(folder).files()
    found = {name: problem for name, entry in files.items() if (problem := _problem(folder / name, entry))}
    still = Manifest.load(folder).files() if found else {}  # a writer may have removed others meanwhile
    return [problem for name, problem in found.items() if still.get(name) == files[name]] + _problems_of_confidence(
        folder
    )


def _problems_of_confidence(folder: Path) -> list[str]:
    try:
        fitted_confidences(folder)
    except PhraseIndexError as error:
        return [str(error)]
    return []


def _problem(path: Path, entry: FileEntry, *, reading: bool = True) -> str:
    """What is wrong with a file; unless it is read, only its size is compared."""
    missing = f"'{path}' is missing; {DAMAGE_REMEDY}."
    if not path.is_file():
        return missing
    try:
        size = path.stat().st_size
        found = FileEntry.from_file(path) if reading and size == entry.size else None
    except FileNotFoundError:
        return missing
    if size != entry.size:
        return f"'{path}' has {size} bytes, {entry.size} were written; {DAMAGE_REMEDY}."
    return f"'{path}' is damaged: its checksum differs; {DAMAGE_REMEDY}." if found not in (None, entry) else ""


def deletion_marks(mask: Mask) -> NDArray[np.uint32]:
    """The numbers of the deleted documents, as they are stored."""
    return np.flatnonzero(mask).astype("<u4")
