"""Writes a segment: documents as they are encoded, or runs of documents copied from other segments."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.index.disk import FileEntry, HashedFile, sync_folder
from densephrases.index.identity import PreparedDocument
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment import (
    ARRAYS,
    CALIBRATION_FILE,
    RECORDS_FILE,
    TEXT_FILE,
    VECTORS_FILE,
    Segment,
    array_file,
)
from densephrases.index.vectors import Calibration, Floats, Quantizer, quantize, release_pages
from densephrases.model.encoder import PassageVectors
from densephrases.text.sentences import TextSpan

_EDGES = ("text_edges", "record_edges", "document_passages", "passage_rows")
_IDS = ("id_hashes", "id_documents")  # sorted, so written at the end
_COPIED_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class PassageRows:
    """The kept tokens of a passage."""

    vectors_RD: Floats
    begins_R: NDArray[np.int64]
    lengths_R: NDArray[np.int64]
    reach_R: NDArray[np.int64]
    tokens: int  # before the filter

    @classmethod
    def of(cls, passage: PassageVectors, threshold: float | None) -> Self:
        kept_R = np.flatnonzero(passage.kept(threshold))
        offsets_R2 = passage.offsets_T2[kept_R]
        last_R = np.searchsorted(kept_R, passage.reach_T[kept_R], side="right") - 1
        reach_R = last_R - np.arange(len(kept_R))
        assert (offsets_R2 <= np.iinfo(np.uint16).max).all()
        assert (reach_R <= np.iinfo(np.uint8).max).all()
        begins_R = offsets_R2[:, 0]
        return cls(passage.vectors_TD[kept_R], begins_R, offsets_R2[:, 1] - begins_R, reach_R, len(passage.offsets_T2))


class SegmentWriter:
    """A folder that becomes a segment when `finish` has given its entry for the manifest."""

    def __init__(self, folder: Path, quantizer: Quantizer, calibration: Calibration) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.quantizer = quantizer
        self.calibration = calibration
        names = [*(array_file(name) for name in ARRAYS), TEXT_FILE, RECORDS_FILE, VECTORS_FILE, CALIBRATION_FILE]
        self._files = {name: HashedFile(folder / name) for name in names}
        self._hashes: list[NDArray[np.uint64]] = []  # of ids, in document order
        self.documents = self.passages = self.rows = 0
        self._cursor = _Cursor("", 0)
        for name in _EDGES:
            self._append(name, [0])

    def open_document(self, prepared: PreparedDocument) -> None:
        """Begin a document; its passages follow, in their order."""
        self._cursor = _Cursor(prepared.document.text, self._files[TEXT_FILE].size)
        self._files[TEXT_FILE].write(prepared.text)
        self._files[RECORDS_FILE].write(prepared.record)
        self._append("text_edges", [self._files[TEXT_FILE].size])
        self._append("record_edges", [self._files[RECORDS_FILE].size])
        self._append("digests", [prepared.digest])
        self._hashes.append(np.array([prepared.hash], dtype=np.uint64))
        self.documents += 1

    def close_document(self) -> None:
        self._append("document_passages", [self.passages])

    def add_passage(self, span: TextSpan, rows: PassageRows) -> None:
        self._append("passage_documents", [self.documents - 1])
        self._append("passage_offsets", [span.start])
        begin = self._cursor.bytes_before(span.start)
        self._append("passage_bytes", [begin])
        self._append("passage_lengths", [self._cursor.bytes_before(span.end) - begin])
        self._append("begins", rows.begins_R)
        self._append("lengths", rows.lengths_R)
        self._append("reach", rows.reach_R)
        self._files[VECTORS_FILE].write(quantize(rows.vectors_RD, self.quantizer, self.calibration).view(np.uint8))
        self.rows += len(rows.begins_R)
        self.passages += 1
        self._append("passage_rows", [self.rows])

    def copy(self, segment: Segment, first: int, last: int) -> None:
        """The documents `first` to `last` (exclusive) of another segment of the same calibration."""
        passages = slice(*segment.document_passages[[first, last]].tolist())
        rows = slice(*segment.passage_rows[[passages.start, passages.stop]].tolist())
        text_shift = self._copy_blob(segment, TEXT_FILE, "text_edges", first, last)
        self._copy_blob(segment, RECORDS_FILE, "record_edges", first, last)
        self._copy_edges(segment, "document_passages", slice(first, last), self.passages - passages.start)
        self._append("digests", segment.digests[first:last])
        self._append("passage_documents", segment.passage_documents[passages].astype(np.int64) + self.documents - first)
        for name in ("passage_offsets", "passage_lengths"):
            self._append(name, segment.array(name)[passages])
        self._append("passage_bytes", segment.array("passage_bytes")[passages] + text_shift)
        self._copy_edges(segment, "passage_rows", passages, self.rows - rows.start)
        for name in ("begins", "lengths", "reach"):
            self._append(name, segment.array(name)[rows])
        self._copy_bytes(VECTORS_FILE, segment.store.records_N[rows])
        self._hashes.append(_hashes_in_order(segment)[first:last])
        self.documents += last - first
        self.passages += passages.stop - passages.start
        self.rows += rows.stop - rows.start

    def finish(self, name: str, *, part: bool) -> SegmentEntry:
        hashes = np.concatenate([*self._hashes, np.zeros(0, dtype=np.uint64)])
        order = np.argsort(hashes, kind="stable")
        self._append("id_hashes", hashes[order])
        self._append("id_documents", order)
        self._files[CALIBRATION_FILE].write(self.calibration.array())
        files: dict[str, FileEntry] = {name: file.finish() for name, file in self._files.items()}
        sync_folder(self.folder)
        return SegmentEntry(name, self.documents, self.passages, self.rows, files, part=part)

    def abandon(self) -> None:
        for file in self._files.values():
            file.abandon()

    def _append(self, name: str, values: Any) -> None:
        self._files[array_file(name)].write(np.asarray(values).astype(ARRAYS[name]))

    def _copy_blob(self, segment: Segment, file: str, edges: str, first: int, last: int) -> int:
        """Bytes of documents and their edges; gives how far they moved."""
        old = segment.array(edges)
        shift = self._files[file].size - int(old[first])
        self._copy_edges(segment, edges, slice(first, last), shift)
        self._copy_bytes(file, segment.blob(file)[int(old[first]) : int(old[last])])
        return shift

    def _copy_edges(self, segment: Segment, name: str, items: slice, shift: int) -> None:
        """The edges behind the items; the one before them is the last that was written."""
        self._append(name, segment.array(name)[items.start + 1 : items.stop + 1] + shift)

    def _copy_bytes(self, file: str, data: NDArray[Any]) -> None:
        data = data.view(np.uint8)
        for first in range(0, len(data), _COPIED_BYTES):
            self._files[file].write(data[first : first + _COPIED_BYTES])
        release_pages(data)


class _Cursor:
    """Goes once through a text and says where in the file of all texts each character begins."""

    def __init__(self, text: str, first_byte: int) -> None:
        self._text = text
        self._characters = 0
        self._bytes = first_byte

    def bytes_before(self, character: int) -> int:
        self._bytes += len(self._text[self._characters : character].encode())
        self._characters = character
        return self._bytes


def _hashes_in_order(segment: Segment) -> NDArray[np.uint64]:
    hashes = np.empty(segment.documents, dtype=np.uint64)
    hashes[segment.array("id_documents")] = segment.array("id_hashes")
    return hashes
