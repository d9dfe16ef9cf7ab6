"""A segment: an immutable folder of plain little-endian arrays, memory-mapped, all in document order."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.search import open_candidates
from densephrases.index.manifest import SegmentEntry
from densephrases.index.mapped import map_array
from densephrases.index.segment.document_keys import id_hash
from densephrases.index.segment.passage_terms import COUNTS_FILE, TERM_ARRAYS, SegmentTerms
from densephrases.index.segment.text_blocks import BlockedText
from densephrases.index.segment.token_offsets import TOKEN_OFFSET_ARRAYS, TokenOffsets
from densephrases.index.settings import IndexSettings
from densephrases.index.vectors.store import CODECS, VectorStore
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.text.documents import Document

TEXT_FILE = "text.bin"
RECORDS_FILE = "records.bin"
VECTORS_FILE = "vectors.bin"
MEANS_FILE = "means.bin"  # of passages, if rows are coded as what they have beyond
CALIBRATION_FILE = "calibration.bin"

ARRAYS = {
    # documents
    "text_edges": "<i8",  # bytes of all texts, one more than documents
    "record_edges": "<i8",  # bytes in records.bin, one more than documents
    "document_passages": "<i8",  # first passage, one more than documents
    "digests": "<u8",
    "id_hashes": "<u8",  # sorted
    "id_documents": "<u4",  # the documents of the sorted hashes
    # passages
    "passage_documents": "<u4",
    "passage_offsets": "<u4",  # characters of the document's text before the passage
    "passage_bytes": "<i8",  # where the passage begins in all texts
    "passage_lengths": "<u4",  # bytes
    "passage_rows": "<i8",  # first row, one more than passages
    "passage_tokens": "<u2",  # kept or not
    **TERM_ARRAYS,
    # blocks of text
    "text_blocks": "<i8",  # bytes in text.bin, one more than blocks
    # rows, the kept tokens
    **TOKEN_OFFSET_ARRAYS,
}

SEGMENT_FILES = (
    *(f"{name}.bin" for name in ARRAYS),
    TEXT_FILE,
    RECORDS_FILE,
    VECTORS_FILE,
    MEANS_FILE,
    CALIBRATION_FILE,
    COUNTS_FILE,
)

# Shape suffixes: N rows asked for, P passages, R all rows.


def array_file(name: str) -> str:
    return f"{name}.bin"


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document without its text."""

    id: str
    title: str
    metadata: dict[str, Any]


class Segment:
    """Reads a segment; arrays are mapped when first asked for and nothing is kept in memory but small ones."""

    def __init__(
        self, folder: Path, entry: SegmentEntry, settings: IndexSettings, pq: ProductQuantizer | None = None
    ) -> None:
        self.folder = folder
        self.entry = entry
        self.settings = settings
        self._pq = pq

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def documents(self) -> int:
        return self.entry.documents

    @property
    def passages(self) -> int:
        return self.entry.passages

    @property
    def rows(self) -> int:
        return self.entry.rows

    def hold(self) -> None:
        """Open every file now, so that what another process removes meanwhile can still be read."""
        for name, value in vars(type(self)).items():
            if isinstance(value, cached_property):
                getattr(self, name)

    def array(self, name: str) -> NDArray[Any]:
        return map_array(self.folder / array_file(name), ARRAYS[name])

    @cached_property
    def passage_documents(self) -> NDArray[np.uint32]:
        return self.array("passage_documents")

    @cached_property
    def passage_offsets(self) -> NDArray[np.uint32]:
        return self.array("passage_offsets")

    @cached_property
    def passage_rows(self) -> NDArray[np.int64]:
        return self.array("passage_rows")

    @cached_property
    def document_passages(self) -> NDArray[np.int64]:
        return self.array("document_passages")

    @cached_property
    def passage_bytes(self) -> NDArray[np.int64]:
        return self.array("passage_bytes")

    @cached_property
    def digests(self) -> NDArray[np.uint64]:
        return self.array("digests")

    @cached_property
    def store(self) -> VectorStore:
        settings = self.settings
        pq = settings.code_from(self._pq)
        codec = CODECS[settings.quantizer].from_bytes(self.blob(CALIBRATION_FILE), settings.dim, pq)
        return VectorStore.open(self.folder / VECTORS_FILE, codec, self.folder / MEANS_FILE, self.passage_rows)

    @cached_property
    def candidates(self) -> CandidateIndex:
        return open_candidates(self.folder, self.entry.candidates, self.store)

    @cached_property
    def terms(self) -> SegmentTerms:
        return SegmentTerms.open(self.array, self.blob(COUNTS_FILE))

    @property
    def document_rows(self) -> NDArray[np.int64]:
        """First row of each document, one more than documents."""
        return np.asarray(self.passage_rows[self.document_passages])

    def passages_of_rows(self, rows_N: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray(np.searchsorted(self.passage_rows, rows_N, side="right") - 1, dtype=np.int64)

    def places(self, rows_N: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where tokens begin: the place of their passage and the characters before them in it."""
        return self._places.of(rows_N)

    def lengths(self, rows_N: NDArray[np.int64]) -> NDArray[np.int64]:
        """The characters of tokens."""
        return self._places.lengths(rows_N)

    def max_span(self, rows_N: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many further rows a phrase that begins at each may take."""
        return self._places.max_span(rows_N)

    @property
    def longest_span(self) -> int:
        return self._places.longest_span

    def rows_of_documents(self, documents: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask over documents as a mask over rows."""
        return np.repeat(documents, np.diff(self.document_rows))

    def text(self, document: int) -> str:
        start, end = self._text_edges[document : document + 2].tolist()
        return self.text_bytes(start, end).decode()

    def text_bytes(self, start: int, end: int) -> bytes:
        """Of all texts, one after the other."""
        return self._text.read(start, end)

    def passage_text(self, passage: int) -> str:
        """Decoded alone: the rest of the document is not read."""
        start = int(self.passage_bytes[passage])
        return self.text_bytes(start, start + int(self._passage_lengths[passage])).decode()

    def record(self, document: int) -> DocumentRecord:
        start, end = self._record_edges[document : document + 2].tolist()
        return DocumentRecord(*json.loads(self._records[start:end].tobytes()))

    def document(self, number: int) -> Document:
        record = self.record(number)
        return Document(record.id, self.text(number), record.title, record.metadata)

    def find(self, identifier: str) -> int | None:
        """The number of the document with this id, deleted or not."""
        return self.find_hashed([identifier], np.array([id_hash(identifier)], dtype=np.uint64)).get(0)

    def find_hashed(self, identifiers: Sequence[str], hashes: NDArray[np.uint64]) -> dict[int, int]:
        """The documents of those ids that the segment has, by the ids' places in the list."""
        first = np.searchsorted(self._id_hashes, hashes, side="left")
        last = np.searchsorted(self._id_hashes, hashes, side="right")
        found = {}
        for place in np.flatnonzero(last > first).tolist():
            for number in self._id_documents[first[place] : last[place]].tolist():
                if self.record(number).id == identifiers[place]:
                    found[place] = number
        return found

    def blob(self, file: str) -> NDArray[np.uint8]:
        return map_array(self.folder / file, np.uint8)

    @cached_property
    def _text(self) -> BlockedText:
        return BlockedText(self.folder / TEXT_FILE, self.blob(TEXT_FILE), self.array("text_blocks"))

    @cached_property
    def _records(self) -> NDArray[np.uint8]:
        return self.blob(RECORDS_FILE)

    @cached_property
    def _text_edges(self) -> NDArray[np.int64]:
        return self.array("text_edges")

    @cached_property
    def _record_edges(self) -> NDArray[np.int64]:
        return self.array("record_edges")

    @cached_property
    def _places(self) -> TokenOffsets:
        return TokenOffsets.open(self.array)

    @cached_property
    def _passage_lengths(self) -> NDArray[np.uint32]:
        return self.array("passage_lengths")

    @cached_property
    def _id_hashes(self) -> NDArray[np.uint64]:
        return self.array("id_hashes")

    @cached_property
    def _id_documents(self) -> NDArray[np.uint32]:
        return self.array("id_documents")
