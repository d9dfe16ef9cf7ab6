"""Writes a segment: documents as they are encoded, or runs of documents copied from other segments."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.index.files.checked import CheckedArray, write_block_checksums
from densephrases.index.files.durable import FileEntry, open_hashed
from densephrases.index.files.mapped import release_pages
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.files import (
    ARRAYS,
    CENTROIDS_FILE,
    CHECKSUMS_FILE,
    DATA_FILES,
    QUANTIZER_FILE,
    RECORDS_FILE,
    TEXT_FILE,
    VECTORS_FILE,
    array_file,
)
from densephrases.index.segment.incoming import Piece
from densephrases.index.segment.metadata_index import MetadataWriter
from densephrases.index.segment.passage_terms import COUNTS_FILE, PassageTerms, TermWriter
from densephrases.index.segment.reader import Segment
from densephrases.index.segment.text_blocks import BlockWriter
from densephrases.index.segment.token_offsets import TokenOffsetWriter
from densephrases.index.segment.token_rows import TokenRows
from densephrases.index.vectors.encoded import EncodedVectors
from densephrases.index.worker_threads import WorkerThreads
from densephrases.quantize.base import IndexCodec

_EDGES = ("text_edges", "text_blocks", "record_edges", "document_passages", "vector_edges")
_PASSAGES = ("passage_documents", "passage_offsets", "passage_bytes", "passage_lengths")
_COPIED_BYTES = 1 << 24
_COPIED_ROWS = 1 << 20
_COPIED_PASSAGES = 1 << 16


Encode = Callable[[NDArray[np.floating[Any]], NDArray[np.int64], IndexCodec], EncodedVectors]
"""Of token vectors, and how many of them each passage has."""


class SegmentWriter:
    """A folder that becomes a segment when the entry that `finish` returns is committed."""

    def __init__(self, folder: Path, codec: IndexCodec, encode: Encode = EncodedVectors.by_codec) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.codec = codec
        self._encode = encode
        self._files = open_hashed(folder, DATA_FILES)
        self._text = BlockWriter(self._files[TEXT_FILE], partial(self._append, "text_blocks"))
        self._token_offsets = TokenOffsetWriter(self._append)
        self._terms = TermWriter(self._append)
        self._metadata = MetadataWriter(self._append)
        self._records = self._files[RECORDS_FILE]
        self._hashes: list[NDArray[np.uint64]] = []  # of ids, in document order
        self.documents = self.passages = self.vectors = 0
        self._byte_offsets = _ByteOffsets()
        self._is_open = False  # the last document has further pieces
        self._vector_writer = WorkerThreads(self._write_vectors)  # they take most of the time: encoding and hashing
        self._handed_over = self._written = 0
        self._failure: Exception | None = None
        for name in _EDGES:
            self._append(name, [0])

    def add(self, pieces: Sequence[Piece], rows: TokenRows, terms: PassageTerms) -> None:
        """Add documents, or pieces of long ones, with the kept tokens and the terms of all their passages in turn."""
        first_byte = self._text.size
        opened = [piece for number, piece in enumerate(pieces) if number or not self._is_open]
        self._open_documents([piece.prepared for piece in opened])
        self._add_text(pieces)
        first_bytes_P = self._add_passages(pieces, first_byte)
        self._token_offsets.add(np.repeat(first_bytes_P, rows.rows_P) + rows.begins_R, rows.lengths_R, rows.max_span_R)
        self._append("vector_edges", self.vectors + np.cumsum(rows.rows_P))
        self._append("passage_tokens", rows.tokens_P)
        self._terms.add(terms)
        self._wait()
        self._handed_over += 1
        self._vector_writer.put(rows)
        self.vectors += len(rows)

    def _write_vectors(self, rows: TokenRows) -> None:
        try:
            encoded = self._encode(rows.vectors_RD, rows.rows_P, self.codec)
            for records in encoded.records_N:
                self._files[VECTORS_FILE].write(records.view(np.uint8))
            self._files[CENTROIDS_FILE].write(encoded.centroids_P.view(np.uint8))
        except Exception as error:
            self._failure = error
        self._written += 1

    def _wait(self) -> None:
        """Until vectors are written. Counted, as Ctrl-C may lose an item that was just taken from the queue."""
        while self._written < self._handed_over:
            self._vector_writer.get()
        if self._failure is not None:
            raise self._failure

    def _open_documents(self, opened: Sequence[PreparedDocument]) -> None:
        self._add_records([prepared.record for prepared in opened])
        self._append("digests", np.array([prepared.digest for prepared in opened], dtype=np.uint64))
        self._hashes.append(np.array([prepared.hash for prepared in opened], dtype=np.uint64))

    def _add_records(self, records: Sequence[bytes]) -> None:
        self._append("record_edges", self._records.size + np.cumsum([len(each) for each in records], dtype=np.int64))
        self._records.write(b"".join(records))
        self._metadata.add(records)

    def _add_text(self, pieces: Sequence[Piece]) -> None:
        texts = [piece.text for piece in pieces]
        ends = (self._text.size + np.cumsum([len(text) for text in texts], dtype=np.int64)).tolist()
        self._text.write(b"".join(texts))
        self._append("text_edges", [end for end, piece in zip(ends, pieces, strict=True) if piece.closes])

    def _add_passages(self, pieces: Sequence[Piece], first_byte: int) -> NDArray[np.int64]:
        """Returns where each begins in all texts."""
        passages: list[tuple[int, int, int, int]] = []  # document, offset, first byte, bytes
        closed: list[int] = []
        for piece in pieces:
            if not self._is_open:
                self._byte_offsets = _ByteOffsets(piece, first_byte)
                self.documents += 1
            first_byte += len(piece.text)
            for span in piece.spans:
                begin, end = self._byte_offsets.bytes_before(span.start), self._byte_offsets.bytes_before(span.end)
                passages.append((self.documents - 1, span.start, begin, end - begin))
            if piece.closes:
                closed.append(self.passages + len(passages))
            self._is_open = not piece.closes
        self._append("document_passages", closed)
        columns = np.array(passages, dtype=np.int64).reshape(-1, 4).T
        for name, column in zip(_PASSAGES, columns, strict=True):
            self._append(name, column)
        self.passages += len(passages)
        return np.asarray(columns[_PASSAGES.index("passage_bytes")])

    def copy(self, segment: Segment, first: int, last: int, records: Sequence[bytes] | None = None) -> None:
        """Copy the documents `first` to `last` (exclusive) of another segment of the same codec.

        `records` replace those that it has of them.
        """
        passages = slice(*segment.document_passages[[first, last]].tolist())
        rows = slice(*segment.vector_edges[[passages.start, passages.stop]].tolist())
        text_shift = self._copy_text(segment, first, last)
        self._copy_edges(segment, "text_edges", slice(first, last), text_shift)
        self._copy_edges(segment, "document_passages", slice(first, last), self.passages - passages.start)
        self._copy_documents(segment, first, last, records)
        self._copy_passages(segment, passages, rows, text_shift, self.documents - first)
        self.documents += last - first

    def join(self, parts: Sequence[Segment]) -> None:
        """Add one document, of which each segment has a part, the only document in it."""
        self._copy_documents(parts[0], 0, 1)
        for part in parts:
            passages, rows = slice(0, part.passages), slice(0, part.vectors)
            self._copy_passages(part, passages, rows, self._copy_text(part, 0, 1), self.documents)
        self.documents += 1
        self._append("text_edges", [self._text.size])
        self._append("document_passages", [self.passages])

    def _copy_documents(self, segment: Segment, first: int, last: int, records: Sequence[bytes] | None = None) -> None:
        if records is None:
            self._copy_records(segment, first, last)
        else:
            self._add_records(records)
        self._append("digests", segment.digests[first:last])
        self._hashes.append(segment.hashes_in_order[first:last])

    def _copy_passages(
        self, segment: Segment, passages: slice, rows: slice, text_shift: int, document_shift: int
    ) -> None:
        documents = segment.passage_documents[passages].astype(np.int64) + document_shift
        self._append("passage_documents", documents)
        for name in ("passage_offsets", "passage_lengths", "passage_tokens"):
            self._append(name, segment.array(name)[passages])
        self._append("passage_bytes", segment.passage_bytes[passages] + text_shift)
        self._copy_edges(segment, "vector_edges", passages, self.vectors - rows.start)
        self._copy_token_offsets(segment, rows, text_shift)
        self._copy_terms(segment, passages)
        self._copy_bytes(VECTORS_FILE, segment.store.records_N, rows.start, rows.stop)
        if segment.store.centroids is not None:
            self._copy_bytes(CENTROIDS_FILE, segment.store.centroids.records_P, passages.start, passages.stop)
        self.passages += passages.stop - passages.start
        self.vectors += rows.stop - rows.start

    def finish(self, name: str, *, partial: bool) -> SegmentEntry:
        """The entry of the segment; a document that lacks further pieces ends here."""
        if self._is_open:
            self._append("text_edges", [self._text.size])
            self._append("document_passages", [self.passages])
        self._wait()
        self._vector_writer.stop()
        self._text.finish()
        self._token_offsets.finish()
        self._metadata.finish()
        hashes = np.concatenate([*self._hashes, np.zeros(0, dtype=np.uint64)])
        order = np.argsort(hashes, kind="stable")
        self._append("id_hashes", hashes[order])
        self._append("id_documents", order)
        self._files[QUANTIZER_FILE].write(self.codec.to_bytes())
        self._files[COUNTS_FILE].write(self._terms.finish())
        files: dict[str, FileEntry] = {name: file.finish() for name, file in self._files.items()}
        checksums = {name: file.checksums for name, file in self._files.items()}
        files[CHECKSUMS_FILE] = write_block_checksums(self.folder / CHECKSUMS_FILE, checksums)
        return SegmentEntry(name, self.documents, self.passages, self.vectors, files, partial=partial)

    def abandon(self) -> None:
        self._vector_writer.stop()
        for file in self._files.values():
            file.abandon()

    def _append(self, name: str, values: Any) -> None:
        self._files[array_file(name)].write(np.asarray(values).astype(ARRAYS[name]))

    def _copy_text(self, segment: Segment, first: int, last: int) -> int:
        """Texts of documents, in new blocks; returns how far they moved."""
        start, stop = map(int, segment.array("text_edges")[[first, last]])
        shift = self._text.size - start
        for at in range(start, stop, _COPIED_BYTES):
            self._text.write(segment.text_bytes(at, min(at + _COPIED_BYTES, stop)))
        return shift

    def _copy_records(self, segment: Segment, first: int, last: int) -> None:
        start, stop = segment.array("record_edges")[[first, last]].tolist()
        self._copy_edges(segment, "record_edges", slice(first, last), self._records.size - start)
        self._copy_bytes(RECORDS_FILE, CheckedArray.from_file(segment.file(RECORDS_FILE), "u1"), start, stop)
        self._metadata.copy(segment.metadata_index, first, last, lambda number: segment.record(number).metadata)

    def _copy_token_offsets(self, segment: Segment, rows: slice, shift: int) -> None:
        for first in range(rows.start, rows.stop, _COPIED_ROWS):
            rows_N = np.arange(first, min(first + _COPIED_ROWS, rows.stop))
            self._token_offsets.add(
                segment.token_offsets(rows_N) + shift, segment.lengths(rows_N), segment.max_span(rows_N)
            )

    def _copy_terms(self, segment: Segment, passages: slice) -> None:
        for first in range(passages.start, passages.stop, _COPIED_PASSAGES):
            self._terms.add(segment.terms.of_passages(first, min(first + _COPIED_PASSAGES, passages.stop)))

    def _copy_edges(self, segment: Segment, name: str, items: slice, shift: int) -> None:
        """The edges after each item; the one before the first is written already."""
        self._append(name, segment.array(name)[items.start + 1 : items.stop + 1] + shift)

    def _copy_bytes(self, file: str, data: CheckedArray, start: int, stop: int) -> None:
        rows = max(_COPIED_BYTES // data.dtype.itemsize, 1)
        for first in range(start, stop, rows):
            self._files[file].write(data[first : min(first + rows, stop)].view(np.uint8))
        release_pages(data.values)


class _ByteOffsets:
    """Goes once through a text and converts character offsets to byte offsets in all texts."""

    def __init__(self, piece: Piece | None = None, first_byte: int = 0) -> None:
        self._text = "" if piece is None else piece.prepared.document.text
        self._narrow = piece is not None and len(piece.prepared.text) == len(self._text)  # one byte a character
        self._characters = 0 if piece is None else piece.begin
        self._bytes = first_byte

    def bytes_before(self, character: int) -> int:
        passed = slice(self._characters, character)
        self._bytes += character - self._characters if self._narrow else len(self._text[passed].encode())
        self._characters = character
        return self._bytes
