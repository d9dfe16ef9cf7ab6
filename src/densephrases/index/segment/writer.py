"""Writes a segment: documents as they are encoded, or runs of documents copied from other segments."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.index.durable_files import FileEntry, HashedFile, sync_folder
from densephrases.index.manifest import SegmentEntry
from densephrases.index.mapped import release_pages
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.incoming import Piece
from densephrases.index.segment.passage_terms import COUNTS_FILE, PassageTerms, TermWriter
from densephrases.index.segment.reader import (
    ARRAYS,
    CALIBRATION_FILE,
    MEANS_FILE,
    RECORDS_FILE,
    SEGMENT_FILES,
    TEXT_FILE,
    VECTORS_FILE,
    Segment,
    array_file,
)
from densephrases.index.segment.text_blocks import BlockWriter
from densephrases.index.segment.token_offsets import TokenOffsetWriter
from densephrases.index.segment.token_rows import Rows
from densephrases.index.vectors.store import CodedRows
from densephrases.index.worker_threads import Stages
from densephrases.quantize.base import IndexCodec

_EDGES = ("text_edges", "text_blocks", "record_edges", "document_passages", "passage_rows")
_PASSAGES = ("passage_documents", "passage_offsets", "passage_bytes", "passage_lengths")
_COPIED_BYTES = 1 << 24
_COPIED_ROWS = 1 << 20
_COPIED_PASSAGES = 1 << 16


RowCoding = Callable[[NDArray[np.floating[Any]], NDArray[np.int64], IndexCodec], CodedRows]
"""Of vectors of passages that have so many rows each."""


class SegmentWriter:
    """A folder that becomes a segment when `finish` has given its entry for the manifest."""

    def __init__(self, folder: Path, codec: IndexCodec, coding: RowCoding = CodedRows.of) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.codec = codec
        self._coding = coding
        self._files = {name: HashedFile(folder / name) for name in SEGMENT_FILES}
        self._text = BlockWriter(self._files[TEXT_FILE], partial(self._append, "text_blocks"))
        self._places = TokenOffsetWriter(self._append)
        self._terms = TermWriter(self._append)
        self._records = self._files[RECORDS_FILE]
        self._hashes: list[NDArray[np.uint64]] = []  # of ids, in document order
        self.documents = self.passages = self.rows = 0
        self._cursor = _Cursor()
        self._vectors = Stages(self._write_vectors)  # most bytes are theirs: coded and hashed beside the rest
        self._handed_over = self._written = 0
        self._failure: Exception | None = None
        for name in _EDGES:
            self._append(name, [0])

    def add(self, pieces: Sequence[Piece], rows: Rows, terms: PassageTerms) -> None:
        """The next documents, or pieces of long ones, with the rows and terms of all their passages in turn."""
        first_byte = self._text.size
        self._open_documents([piece.prepared for piece in pieces if piece.opens])
        first_bytes_P = self._add_passages(pieces, first_byte)
        self._places.add(np.repeat(first_bytes_P, rows.rows_P) + rows.begins_R, rows.lengths_R, rows.max_span_R)
        self._append("passage_rows", self.rows + np.cumsum(rows.rows_P))
        self._append("passage_tokens", rows.tokens_P)
        self._terms.add(terms)
        self._wait()
        self._handed_over += 1
        self._vectors.put(rows)
        self.rows += len(rows)

    def _write_vectors(self, rows: Rows) -> None:
        try:
            coded = self._coding(rows.vectors_RD, rows.rows_P, self.codec)
            for records in coded.records_N:
                self._files[VECTORS_FILE].write(records.view(np.uint8))
            self._files[MEANS_FILE].write(coded.means_P.view(np.uint8))
        except Exception as error:
            self._failure = error
        self._written += 1

    def _wait(self) -> None:
        """Until vectors are written. Counted, as what comes out of a queue is lost if Ctrl-C comes with it."""
        while self._written < self._handed_over:
            self._vectors.get()
        if self._failure is not None:
            raise self._failure

    def _open_documents(self, opened: Sequence[PreparedDocument]) -> None:
        for file, edges, name in ((self._text, "text_edges", "text"), (self._records, "record_edges", "record")):
            parts = [getattr(prepared, name) for prepared in opened]
            self._append(edges, file.size + np.cumsum([len(part) for part in parts], dtype=np.int64))
            file.write(b"".join(parts))
        self._append("digests", np.array([prepared.digest for prepared in opened], dtype=np.uint64))
        self._hashes.append(np.array([prepared.hash for prepared in opened], dtype=np.uint64))

    def _add_passages(self, pieces: Sequence[Piece], first_byte: int) -> NDArray[np.int64]:
        """Gives where each begins in all texts."""
        passages: list[tuple[int, int, int, int]] = []  # document, offset, first byte, bytes
        closed: list[int] = []
        for piece in pieces:
            if piece.opens:
                self._cursor = _Cursor(piece.prepared, first_byte)
                first_byte += len(piece.prepared.text)
                self.documents += 1
            for span in piece.spans:
                begin, end = self._cursor.bytes_before(span.start), self._cursor.bytes_before(span.end)
                passages.append((self.documents - 1, span.start, begin, end - begin))
            if piece.closes:
                closed.append(self.passages + len(passages))
        self._append("document_passages", closed)
        columns = np.array(passages, dtype=np.int64).reshape(-1, 4).T
        for name, column in zip(_PASSAGES, columns, strict=True):
            self._append(name, column)
        self.passages += len(passages)
        return np.asarray(columns[_PASSAGES.index("passage_bytes")])

    def copy(self, segment: Segment, first: int, last: int) -> None:
        """The documents `first` to `last` (exclusive) of another segment of the same codec."""
        passages = slice(*segment.document_passages[[first, last]].tolist())
        rows = slice(*segment.passage_rows[[passages.start, passages.stop]].tolist())
        text_shift = self._copy_text(segment, first, last)
        self._copy_records(segment, first, last)
        self._copy_edges(segment, "document_passages", slice(first, last), self.passages - passages.start)
        self._append("digests", segment.digests[first:last])
        self._append("passage_documents", segment.passage_documents[passages].astype(np.int64) + self.documents - first)
        for name in ("passage_offsets", "passage_lengths", "passage_tokens"):
            self._append(name, segment.array(name)[passages])
        self._append("passage_bytes", segment.passage_bytes[passages] + text_shift)
        self._copy_edges(segment, "passage_rows", passages, self.rows - rows.start)
        self._copy_places(segment, rows, text_shift)
        self._copy_terms(segment, passages)
        self._copy_bytes(VECTORS_FILE, segment.store.records_N[rows])
        if segment.store.means is not None:
            self._copy_bytes(MEANS_FILE, segment.store.means.records_P[passages])
        self._hashes.append(_hashes_in_order(segment)[first:last])
        self.documents += last - first
        self.passages += passages.stop - passages.start
        self.rows += rows.stop - rows.start

    def finish(self, name: str, *, part: bool) -> SegmentEntry:
        self._wait()
        self._vectors.stop()
        self._text.finish()
        self._places.finish()
        hashes = np.concatenate([*self._hashes, np.zeros(0, dtype=np.uint64)])
        order = np.argsort(hashes, kind="stable")
        self._append("id_hashes", hashes[order])
        self._append("id_documents", order)
        self._files[CALIBRATION_FILE].write(self.codec.to_bytes())
        self._files[COUNTS_FILE].write(self._terms.finish())
        files: dict[str, FileEntry] = {name: file.finish() for name, file in self._files.items()}
        sync_folder(self.folder)
        return SegmentEntry(name, self.documents, self.passages, self.rows, files, part=part)

    def abandon(self) -> None:
        self._vectors.stop()
        for file in self._files.values():
            file.abandon()

    def _append(self, name: str, values: Any) -> None:
        self._files[array_file(name)].write(np.asarray(values).astype(ARRAYS[name]))

    def _copy_text(self, segment: Segment, first: int, last: int) -> int:
        """Texts of documents, in new blocks, and their edges; gives how far they moved."""
        start, stop = map(int, segment.array("text_edges")[[first, last]])
        shift = self._text.size - start
        self._copy_edges(segment, "text_edges", slice(first, last), shift)
        for at in range(start, stop, _COPIED_BYTES):
            self._text.write(segment.text_bytes(at, min(at + _COPIED_BYTES, stop)))
        return shift

    def _copy_records(self, segment: Segment, first: int, last: int) -> None:
        start, stop = segment.array("record_edges")[[first, last]].tolist()
        self._copy_edges(segment, "record_edges", slice(first, last), self._records.size - start)
        self._copy_bytes(RECORDS_FILE, segment.blob(RECORDS_FILE)[start:stop])

    def _copy_places(self, segment: Segment, rows: slice, shift: int) -> None:
        for first in range(rows.start, rows.stop, _COPIED_ROWS):
            rows_N = np.arange(first, min(first + _COPIED_ROWS, rows.stop))
            self._places.add(segment.places(rows_N) + shift, segment.lengths(rows_N), segment.max_span(rows_N))

    def _copy_terms(self, segment: Segment, passages: slice) -> None:
        for first in range(passages.start, passages.stop, _COPIED_PASSAGES):
            self._terms.add(segment.terms.of_passages(first, min(first + _COPIED_PASSAGES, passages.stop)))

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

    def __init__(self, prepared: PreparedDocument | None = None, first_byte: int = 0) -> None:
        self._text = "" if prepared is None else prepared.document.text
        self._narrow = prepared is not None and len(prepared.text) == len(self._text)  # a byte a character
        self._characters = 0
        self._bytes = first_byte

    def bytes_before(self, character: int) -> int:
        passed = slice(self._characters, character)
        self._bytes += character - self._characters if self._narrow else len(self._text[passed].encode())
        self._characters = character
        return self._bytes


def _hashes_in_order(segment: Segment) -> NDArray[np.uint64]:
    hashes = np.empty(segment.documents, dtype=np.uint64)
    hashes[segment.array("id_documents")] = segment.array("id_hashes")
    return hashes
