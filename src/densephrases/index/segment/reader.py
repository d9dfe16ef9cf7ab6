"""A segment for reading: an immutable folder of memory-mapped arrays, all in document order."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes
from densephrases.built_once import BuiltOnce
from densephrases.errors import PhraseIndexError
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.by_kind import open_candidates
from densephrases.index.candidates.ivf_file import CANDIDATE_CHECKSUMS_FILE, INVERTED_FILES
from densephrases.index.files.checked import CheckedArray, CheckedFile, as_array, read_block_checksums
from densephrases.index.files.durable import DAMAGE_REMEDY
from densephrases.index.files.mapped import map_file
from densephrases.index.manifest import SegmentEntry
from densephrases.index.segment.bounds import expected_count, impossible
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.index.segment.files import (
    ARRAYS,
    CENTROIDS_FILE,
    CHECKSUMS_FILE,
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
        self._files = _checked_files(folder, entry)
        self._arrays: dict[str, NDArray[Any]] = {}

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

    @property
    def has_block_checksums(self) -> bool:
        """Whether damage of every file is noticed when it is read; segments of earlier versions have none."""
        return CHECKSUMS_FILE in self._files

    def array(self, name: str) -> NDArray[Any]:
        """All of an array, verified."""
        if name not in self._arrays:
            file = self.file(array_file(name))
            values = as_array(file, file.whole(), ARRAYS[name], expected_count(name, self.entry))
            if problem := impossible(name, values, self.entry):
                raise file.damaged(problem)
            self._arrays[name] = values
        return self._arrays[name]

    def lazy_array(self, name: str) -> CheckedArray:
        """An array whose parts are verified when they are read."""
        return CheckedArray.from_file(self.file(array_file(name)), ARRAYS[name], expected_count(name, self.entry))

    def blob(self, file: str) -> Bytes:
        """All bytes of a file, verified."""
        return self.file(file).whole()

    def file(self, name: str) -> CheckedFile:
        """Segments of version 0.1 have other names for some files."""
        found = self._files.get(name) or self._files.get(FORMER_FILES.get(name, name))
        if found is None:
            raise PhraseIndexError(f"Segment '{self.folder}' has no {name}; {DAMAGE_REMEDY}.")
        return found

    def verify_unblocked(self) -> None:
        """Compare the files with their SHA-256 that have no checksums of blocks."""
        for file in self._files.values():
            if not file.has_checksums:
                file.whole()

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
        try:
            codec = CODECS[settings.quantizer].from_bytes(self.blob(QUANTIZER_FILE), settings.dim, pq)
        except ValueError as error:
            raise self.file(QUANTIZER_FILE).damaged(str(error)) from error
        records_N = CheckedArray.from_file(self.file(VECTORS_FILE), codec.row_type, self.vectors)
        centroid_codec = codec.centroid_codec
        if centroid_codec is None:
            return VectorStore(records_N, codec)
        centroids_P = CheckedArray.from_file(self.file(CENTROIDS_FILE), centroid_codec.row_type, self.passages)
        return VectorStore.with_centroids(records_N, codec, centroids_P, self.vector_edges)

    @property
    def has_clusters(self) -> bool:
        return self.entry.candidates == "clusters"

    @BuiltOnce
    def candidates(self) -> CandidateIndex:
        return open_candidates(self.blob, self.entry.candidates, self.store)

    @cached_property
    def terms(self) -> SegmentTerms:
        try:
            return SegmentTerms.open(self.array("term_edges"), self.lazy_array("terms"), self.blob(COUNTS_FILE))
        except ValueError as error:
            raise self.file(COUNTS_FILE).damaged(str(error)) from error

    @cached_property
    def metadata_index(self) -> MetadataIndex | None:
        """None if an earlier version wrote the segment."""
        known = all(array_file(name) in self.entry.files for name in METADATA_ARRAYS)
        return MetadataIndex.open(self.array) if known else None

    @cached_property
    def hashes_in_order(self) -> NDArray[np.uint64]:
        """Of the ids of its documents."""
        hashes = np.empty(self.documents, dtype=np.uint64)
        hashes[self._id_documents] = self._id_hashes
        return hashes

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
        within_N = self.vectors - 1 - rows_N  # whatever is stored
        return np.minimum(self._token_offsets.max_span(rows_N), within_N)

    @property
    def longest_span(self) -> int:
        return self._token_offsets.longest_span

    def text(self, document: int) -> str:
        start, end = self._text_edges[document : document + 2].tolist()
        return self._decoded(self.text_bytes(start, end))

    def _decoded(self, text: bytes) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            raise self.file(TEXT_FILE).damaged(f"a text in it is not UTF-8 ({error})") from error

    def text_bytes(self, start: int, end: int) -> bytes:
        """Bytes of all texts, one after the other."""
        return self._text.read(start, end)

    def passage_text(self, passage: int) -> str:
        """Read alone, without the rest of the document."""
        start = int(self.passage_bytes[passage])
        return self._decoded(self.text_bytes(start, start + int(self._passage_lengths[passage])))

    def record(self, document: int) -> DocumentRecord:
        start, end = self._record_edges[document : document + 2].tolist()
        try:
            return DocumentRecord.from_json(self._records[start:end].tobytes())
        except (ValueError, TypeError, RecursionError) as error:
            raise self.file(RECORDS_FILE).damaged(f"document {document} cannot be read ({error})") from error

    def document(self, number: int) -> Document:
        record = self.record(number)
        return Document(record.id, self.text(number), record.title, record.metadata, record.layout, file=record.file)

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
        file = self.file(TEXT_FILE)
        return BlockedText(file.path, CheckedArray.from_file(file, "u1"), self.array("text_blocks"))

    @cached_property
    def _records(self) -> CheckedArray:
        return CheckedArray.from_file(self.file(RECORDS_FILE), "u1")

    @cached_property
    def _text_edges(self) -> NDArray[np.int64]:
        return self.array("text_edges")

    @cached_property
    def _record_edges(self) -> NDArray[np.int64]:
        return self.array("record_edges")

    @cached_property
    def _token_offsets(self) -> TokenOffsets:
        return TokenOffsets.open(self.array, self.lazy_array)

    @cached_property
    def _passage_lengths(self) -> NDArray[np.uint32]:
        return self.array("passage_lengths")

    @cached_property
    def _id_hashes(self) -> NDArray[np.uint64]:
        return self.array("id_hashes")

    @cached_property
    def _id_documents(self) -> NDArray[np.uint32]:
        return self.array("id_documents")


def _checked_files(folder: Path, entry: SegmentEntry) -> dict[str, CheckedFile]:
    """All files, mapped, each with the checksums of its blocks where it has any."""
    data = {name: map_file(folder / name, file.size) for name, file in entry.files.items()}
    checksums: dict[str, NDArray[np.uint32]] = {}
    of_candidates = {name for name in entry.files if name in INVERTED_FILES}
    for name, covered in (
        (CHECKSUMS_FILE, entry.files.keys() - of_candidates),
        (CANDIDATE_CHECKSUMS_FILE, of_candidates),
    ):
        if name in data:
            file = CheckedFile(folder / name, data[name], entry.files[name], None)
            sizes = {other: entry.files[other].size for other in covered if other != name}
            checksums |= read_block_checksums(file, sizes)
    return {
        name: CheckedFile(folder / name, data[name], written, checksums.get(name))
        for name, written in entry.files.items()
    }
