"""A segment for reading: an immutable folder of memory-mapped arrays, all in document order."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes
from densephrases.built_once import BuiltOnce
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.by_kind import open_candidates
from densephrases.index.files.mapped import map_file
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.files import (
    ARRAYS,
    CENTROIDS_FILE,
    FORMER_FILES,
    QUANTIZER_FILE,
    RECORDS_FILE,
    TEXT_FILE,
    VECTORS_FILE,
    array_file,
)
from densephrases.index.segment.metadata_index import METADATA_ARRAYS, MetadataIndex
from densephrases.index.segment.passage_terms import COUNTS_FILE, SegmentTerms
from densephrases.index.segment.text_blocks import BlockedText
from densephrases.index.segment.token_offsets import TokenOffsets
from densephrases.index.settings import IndexSettings
from densephrases.index.vectors.encoded import CODECS
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.text.documents import Document

# Shape suffixes: N token vectors (rows) asked for.


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document without its text."""

    id: str
    title: str
    metadata: dict[str, Any]


class Segment:
    """Reads a segment. All files are mapped when it is opened, so that others may remove them.

    Raises:
        FileNotFoundError: A file is not there (any more).
        PhraseIndexError: A file has another size than was written.
    """

    def __init__(
        self, folder: Path, entry: SegmentEntry, settings: IndexSettings, pq: ProductQuantizer | None = None
    ) -> None:
        self.folder = folder
        self.entry = entry
        self.settings = settings
        self._pq = pq
        self._files = {name: map_file(folder / name, file.size) for name, file in entry.files.items()}

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
    def vectors(self) -> int:
        return self.entry.vectors

    def array(self, name: str) -> NDArray[Any]:
        return self.blob(array_file(name)).view(ARRAYS[name])

    def blob(self, file: str) -> Bytes:
        """The bytes of a file: segments of version 0.1 have other names for some."""
        return self._files[file if file in self._files else FORMER_FILES.get(file, file)]

    @cached_property
    def passage_documents(self) -> NDArray[np.uint32]:
        return self.array("passage_documents")

    @cached_property
    def passage_offsets(self) -> NDArray[np.uint32]:
        return self.array("passage_offsets")

    @cached_property
    def vector_edges(self) -> NDArray[np.int64]:
        return self.array("vector_edges")

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
        pq = settings.resolve_pq(self._pq)
        codec = CODECS[settings.quantizer].from_bytes(self.blob(QUANTIZER_FILE), settings.dim, pq)
        return VectorStore.from_bytes(self.blob(VECTORS_FILE), codec, self.blob(CENTROIDS_FILE), self.vector_edges)

    @BuiltOnce
    def candidates(self) -> CandidateIndex:
        return open_candidates(self.blob, self.entry.candidates, self.store)

    @cached_property
    def terms(self) -> SegmentTerms:
        return SegmentTerms.open(self.array, self.blob(COUNTS_FILE))

    @cached_property
    def metadata_index(self) -> MetadataIndex | None:
        """None if an earlier version wrote the segment."""
        known = all(array_file(name) in self.entry.files for name in METADATA_ARRAYS)
        return MetadataIndex.open(self.array) if known else None

    @property
    def document_vectors(self) -> NDArray[np.int64]:
        """First token vector of each document, one more than documents."""
        return np.asarray(self.vector_edges[self.document_passages])

    def token_offsets(self, rows_N: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where tokens begin: `passage_bytes` of their passage plus the characters before them in it."""
        return self._token_offsets.offsets(rows_N)

    def lengths(self, rows_N: NDArray[np.int64]) -> NDArray[np.int64]:
        """Characters of tokens."""
        return self._token_offsets.lengths(rows_N)

    def max_span(self, rows_N: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many further rows a phrase that begins at each may include."""
        return self._token_offsets.max_span(rows_N)

    @property
    def longest_span(self) -> int:
        return self._token_offsets.longest_span

    def text(self, document: int) -> str:
        start, end = self._text_edges[document : document + 2].tolist()
        return self.text_bytes(start, end).decode()

    def text_bytes(self, start: int, end: int) -> bytes:
        """Bytes of all texts, one after the other."""
        return self._text.read(start, end)

    def passage_text(self, passage: int) -> str:
        """Read alone, without the rest of the document."""
        start = int(self.passage_bytes[passage])
        return self.text_bytes(start, start + int(self._passage_lengths[passage])).decode()

    def record(self, document: int) -> DocumentRecord:
        start, end = self._record_edges[document : document + 2].tolist()
        return DocumentRecord(*json.loads(self._records[start:end].tobytes()))

    def document(self, number: int) -> Document:
        record = self.record(number)
        return Document(record.id, self.text(number), record.title, record.metadata)

    def find_hashed(self, identifiers: Sequence[str], hashes: NDArray[np.uint64]) -> dict[int, int]:
        """The documents of those ids that the segment has, by the positions of the ids in the list."""
        first = np.searchsorted(self._id_hashes, hashes, side="left")
        last = np.searchsorted(self._id_hashes, hashes, side="right")
        found = {}
        for position in np.flatnonzero(last > first).tolist():
            for number in self._id_documents[first[position] : last[position]].tolist():
                if self.record(number).id == identifiers[position]:
                    found[position] = number
        return found

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
    def _token_offsets(self) -> TokenOffsets:
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
