"""A running build: documents become parts, small segments that are committed every so often."""

import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import DataError
from densephrases.index.build.chunks import EncodedChunk, encode_ahead
from densephrases.index.build.gpu_pipeline import encode_in_bulk
from densephrases.index.commits import Commits
from densephrases.index.progress import Progress, ProgressCallback
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.writer import SegmentWriter
from densephrases.index.snapshot import Place
from densephrases.index.vectors.store import CodedRows, fit_codec
from densephrases.model.bulk_encoder import BulkEncoder
from densephrases.model.encoder import Encoder
from densephrases.quantize.base import IndexCodec
from densephrases.text.documents import Document

PART_ROWS = 100_000
BULK_PART_ROWS = 2_000_000  # a GPU makes as many in seconds
PART_SECONDS = 180.0
CALIBRATION_ROWS = 1 << 16
_LOOKED_UP = 256  # documents at a time
_LOOKED_UP_CHARACTERS = 1 << 18


class PartBuilder:
    """Takes documents, leaves out those that are there, and commits the rest part by part."""

    def __init__(self, commits: Commits, encoder: Encoder, progress: ProgressCallback, *, replacing: bool) -> None:
        self.commits = commits
        self.encoder = encoder
        self.report = progress
        self.replacing = replacing
        self._progress = Progress()
        self._coding = partial(CodedRows.by, encoder) if isinstance(encoder, BulkEncoder) else CodedRows.of
        self._began = self._part_began = time.monotonic()
        self._writer: SegmentWriter | None = None
        self._at_document_end = True
        self._committing = False  # a part that was interrupted in the middle of it cannot be committed again
        self._first_new = len(commits.snapshot.segments)
        self._seen: list[NDArray[np.bool_]] = [np.zeros(s.documents, dtype=bool) for s in commits.snapshot.segments]
        self._on_the_way: dict[str, Place | None] = {}  # not yet committed, with what they replace
        self._written: list[str] = []  # ids in the current part

    def run(self, documents: Iterable[Document]) -> None:
        """What is encoded when something fails is committed as well."""
        encoded = self._encoded(documents)
        try:
            for chunk in encoded:
                self._write(chunk)
                if self._at_document_end and self._is_due():
                    self._commit()
            self._commit()
        except BaseException as error:
            encoded.close()
            if self._at_document_end and not self._committing and not isinstance(error, OSError):
                self._commit()
            raise
        finally:
            if self._writer is not None:
                self._writer.abandon()

    def _encoded(self, documents: Iterable[Document]) -> Generator[EncodedChunk]:
        threshold = self.commits.manifest.settings.filter_threshold
        if isinstance(self.encoder, BulkEncoder):
            return encode_in_bulk(self._wanted(documents), self.encoder, threshold)
        return encode_ahead(self._wanted(documents), self.encoder, threshold)

    def finished(self) -> Progress:
        return replace(self._progress, seconds=time.monotonic() - self._began)

    def _wanted(self, documents: Iterable[Document]) -> Iterator[PreparedDocument]:
        """The documents that are new or changed."""
        for block in _blocks(documents):
            places = self.commits.snapshot.locate([document.id for document in block])
            for document in block:
                prepared = PreparedDocument.of(document)
                if self._is_wanted(prepared, places.get(document.id)):
                    yield prepared

    def _is_wanted(self, prepared: PreparedDocument, place: Place | None) -> bool:
        identifier = prepared.document.id
        if identifier in self._on_the_way or (place is not None and self._came_before(place)):
            raise _twice(identifier)
        if place is not None:
            self._seen[place.segment][place.document] = True
            if int(self.commits.snapshot.segments[place.segment].digests[place.document]) == prepared.digest:
                self._progress = replace(self._progress, unchanged=self._progress.unchanged + 1)
                return False
            if not self.replacing:
                raise DataError(
                    f"The index already has a document with id {identifier!r} and another content; "
                    "update it, or delete it first."
                )
        self._on_the_way[identifier] = place
        return True

    def _came_before(self, place: Place) -> bool:
        """In this run: the document stands in one of its parts, or was looked up already."""
        return place.segment >= self._first_new or bool(self._seen[place.segment][place.document])

    def _write(self, encoded: EncodedChunk) -> None:
        if self._writer is None:
            self._writer = SegmentWriter(self.commits.new_segment_folder(), self._codec(encoded), self._coding)
        elif self._writer.rows == 0:  # what was fitted to no rows at all fits none
            self._writer.codec = self._codec(encoded)
        writer = self._writer
        self._at_document_end = False
        writer.add(encoded.chunk.pieces, encoded.rows, encoded.terms)
        self._written += [piece.prepared.document.id for piece in encoded.chunk.pieces if piece.closes]
        self._at_document_end = encoded.chunk.closes
        self._count(encoded)

    def _codec(self, encoded: EncodedChunk) -> IndexCodec:
        """That of the rows there are, or one for the first rows."""
        for segment in self.commits.snapshot.segments:
            if segment.rows:
                return segment.store.codec
        vectors_RD = encoded.rows.vectors_RD
        some_RD = vectors_RD[:: len(vectors_RD) // CALIBRATION_ROWS + 1].astype(np.float32)
        return fit_codec(self.commits.manifest.settings.quantizer, some_RD, self.encoder.product_quantizer)

    def _count(self, encoded: EncodedChunk) -> None:
        pieces, before = encoded.chunk.pieces, self._progress
        closed = [piece.prepared.document for piece in pieces if piece.closes]
        self._progress = replace(
            before,
            documents=before.documents + len(closed),
            replaced=before.replaced + sum(self._on_the_way[document.id] is not None for document in closed),
            passages=before.passages + encoded.chunk.passages,
            tokens=before.tokens + encoded.rows.tokens,
            rows=before.rows + len(encoded.rows),
            characters=before.characters + sum(len(document.text) for document in closed),
            seconds=time.monotonic() - self._began,
        )
        self.report(self._progress)

    def _is_due(self) -> bool:
        assert self._writer is not None
        rows = BULK_PART_ROWS if isinstance(self.encoder, BulkEncoder) else PART_ROWS
        return self._writer.rows >= rows or time.monotonic() - self._part_began > PART_SECONDS

    def _commit(self) -> None:
        if self._writer is None:
            return
        self._committing = True
        entry = self._writer.finish(self._writer.folder.name, part=True)
        self._writer = None
        replaced = [place for identifier in self._written if (place := self._on_the_way.pop(identifier)) is not None]
        self.commits.commit((entry,), replaced, building=True)
        self._written = []
        self._part_began = time.monotonic()
        self._committing = False


def _blocks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Some documents at a time, so that looking them up costs little; no id is twice in a block."""
    block: dict[str, Document] = {}
    characters = 0
    for document in documents:
        if document.id in block:
            raise _twice(document.id)
        block[document.id] = document
        characters += len(document.text)
        if len(block) >= _LOOKED_UP or characters >= _LOOKED_UP_CHARACTERS:
            yield list(block.values())
            block, characters = {}, 0
    if block:
        yield list(block.values())


def _twice(identifier: str) -> DataError:
    return DataError(f"Two documents have the id {identifier!r}; every document needs an id of its own.")
