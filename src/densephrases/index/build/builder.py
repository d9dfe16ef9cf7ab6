"""A running build: documents become partial segments, which are committed at intervals and merged at the end.

A document too long for one chunk is committed in parts, which no search sees; they are joined when it is complete.
"""

import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import DataError
from densephrases.index.build.chunks import EncodedChunk, encode_ahead
from densephrases.index.build.gpu_pipeline import encode_in_bulk
from densephrases.index.build.interrupts import held_interrupts
from densephrases.index.build.merge import join_parts
from densephrases.index.build.origins import Origins
from densephrases.index.build.touched import TouchedDocuments
from densephrases.index.commits import Commits
from densephrases.index.manifest import DocumentPart, SegmentEntry
from densephrases.index.progress import Progress, ProgressCallback
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.incoming import Piece
from densephrases.index.segment.reader import Segment
from densephrases.index.segment.writer import SegmentWriter
from densephrases.index.settings import IndexSettings
from densephrases.index.snapshot import DocumentLocation
from densephrases.index.vectors.encoded import EncodedVectors, fit_codec
from densephrases.model.bulk_encoder import BulkEncoder
from densephrases.model.encoder import Encoder
from densephrases.quantize.base import IndexCodec
from densephrases.text.documents import Document

PARTIAL_VECTORS = 100_000
BULK_PARTIAL_VECTORS = 2_000_000  # a GPU encodes as many in seconds
PARTIAL_SECONDS = 180.0
FITTED_VECTORS = 1 << 16  # of which a codec is fitted
_LOOKED_UP = 256  # documents at a time
_LOOKED_UP_CHARACTERS = 1 << 18


class SegmentBuilder:
    """Takes documents, skips those that are in the index already, and commits the rest as partial segments."""

    def __init__(
        self,
        commits: Commits,
        encoder: Encoder,
        progress: ProgressCallback,
        *,
        replacing: bool,
        replace_others: bool = False,
        codec: IndexCodec | None = None,
    ) -> None:
        """`codec` is that of an index of which this is a part; None takes the one that is there, or fits one."""
        self.commits = commits
        self._given_codec = codec
        self._origins = Origins(commits, replace_others=replace_others)
        self._touched = TouchedDocuments(commits)
        self.encoder = encoder
        self.report = progress
        self.replacing = replacing
        self._progress = Progress()
        self._encode = (
            partial(EncodedVectors.by_encoder, encoder) if isinstance(encoder, BulkEncoder) else EncodedVectors.by_codec
        )
        self._began = self._segment_began = time.monotonic()
        self._writer: SegmentWriter | None = None
        self._long: Piece | None = None  # the last one that was written, if its document is not complete
        self._joining: PreparedDocument | None = None  # complete with what was written, which is its last part
        self._torn = False  # in the middle of a write or a commit, which cannot be done again
        self._first_new = len(commits.snapshot.segments)
        self._seen: list[NDArray[np.bool_]] = [np.zeros(s.documents, dtype=bool) for s in commits.snapshot.segments]
        self._on_the_way: dict[str, DocumentLocation | None] = {}  # not yet committed, with what they replace
        self._written: list[str] = []  # ids in the current segment

    def run(self, documents: Iterable[Document]) -> None:
        """What is encoded before something fails is committed as well."""
        encoded = self._encoded(self._origins.recorded(documents))
        try:
            for chunk in encoded:
                with held_interrupts():
                    self._write(chunk)
                    if self._is_due():
                        self._commit()
            with held_interrupts():
                self._commit_all()
        except BaseException as error:
            encoded.close()
            if not self._torn and not isinstance(error, OSError):
                with held_interrupts():
                    self._commit_all()
            raise
        finally:
            if self._writer is not None:
                self._writer.abandon()

    def _encoded(self, documents: Iterable[Document]) -> Generator[EncodedChunk]:
        return _encoded(self._wanted(documents), self.encoder, self.commits.manifest.settings)

    def finished(self) -> Progress:
        return replace(self._progress, seconds=time.monotonic() - self._began)

    def _wanted(self, documents: Iterable[Document]) -> Iterator[PreparedDocument]:
        """The documents that are new or changed."""
        for block in _blocks(documents):
            locations = self.commits.snapshot.locate([document.id for document in block])
            for document in block:
                prepared = PreparedDocument.from_document(document)
                if self._is_wanted(prepared, locations.get(document.id)):
                    parts = self.commits.manifest.parts_of(document.id, prepared.digest)
                    yield replace(prepared, done=parts[-1].characters) if parts else prepared

    def _is_wanted(self, prepared: PreparedDocument, location: DocumentLocation | None) -> bool:
        identifier = prepared.document.id
        if identifier in self._on_the_way or (location is not None and self._came_before(location)):
            raise _twice(identifier)
        if location is not None:
            self._seen[location.segment][location.document] = True
            if int(self.commits.snapshot.segments[location.segment].digests[location.document]) == prepared.digest:
                self._progress = replace(self._progress, unchanged=self._progress.unchanged + 1)
                self._touched.note(prepared, location)
                return False
            if not self.replacing:
                raise DataError(
                    f"The index already has a document with id {identifier!r} and another content; "
                    "update it, or delete it first."
                )
            stored = self.commits.snapshot.segments[location.segment].record(location.document)
            self._origins.refuse_other(prepared.document, stored)
        self._on_the_way[identifier] = location
        return True

    def _came_before(self, location: DocumentLocation) -> bool:
        """In this run: the document is in one of its segments, or was looked up already."""
        return location.segment >= self._first_new or bool(self._seen[location.segment][location.document])

    def _write(self, encoded: EncodedChunk) -> None:
        if self._long is None and encoded.chunk.long is not None:
            self._commit()  # what comes before it, so that a part has nothing but its document
        if self._writer is None:
            self._writer = SegmentWriter(self.commits.new_segment_folder(), self._codec(encoded), self._encode)
        elif self._writer.vectors == 0:  # a codec that was fitted to no vectors fits none
            self._writer.codec = self._codec(encoded)
        self._torn = True
        self._writer.add(encoded.chunk.pieces, encoded.token_rows, encoded.terms)
        self._written += [piece.prepared.document.id for piece in encoded.chunk.pieces if piece.closes]
        last = encoded.chunk.pieces[-1]
        self._long = None if last.closes else last
        is_last_part = last.closes and self.commits.manifest.parts_of(last.prepared.document.id, last.prepared.digest)
        self._joining = last.prepared if is_last_part else None
        self._torn = False
        self._count(encoded)

    def _codec(self, encoded: EncodedChunk) -> IndexCodec:
        """That of the vectors in the index, the given one, or one fitted to the first vectors."""
        snapshot = self.commits.snapshot
        for segment in (*snapshot.segments, *snapshot.parts(encoded.chunk.pieces[0].prepared)):
            if segment.vectors:
                return segment.store.codec
        return self._given_codec or _fitted(encoded, self.encoder, self.commits.manifest.settings)

    def _count(self, encoded: EncodedChunk) -> None:
        pieces, before = encoded.chunk.pieces, self._progress
        closed = [piece.prepared.document for piece in pieces if piece.closes]
        self._progress = replace(
            before,
            documents=before.documents + len(closed),
            replaced=before.replaced + sum(self._on_the_way[document.id] is not None for document in closed),
            passages=before.passages + encoded.chunk.passages,
            tokens=before.tokens + encoded.token_rows.tokens,
            vectors=before.vectors + len(encoded.token_rows),
            characters=before.characters + sum(piece.end - piece.begin for piece in pieces),
            seconds=time.monotonic() - self._began,
            unfinished=0 if self._long is None else self._long.end,
        )
        self.report(self._progress)

    def _is_due(self) -> bool:
        if self._writer is None:
            return False
        if self._joining is not None:
            return True
        vectors = BULK_PARTIAL_VECTORS if isinstance(self.encoder, BulkEncoder) else PARTIAL_VECTORS
        return self._writer.vectors >= vectors or time.monotonic() - self._segment_began > PARTIAL_SECONDS

    def _commit_all(self) -> None:
        self._commit()
        self._touched.commit()

    def _commit(self) -> None:
        """What is written: whole documents, or a part of a long one."""
        if self._writer is None:
            return
        self._torn = True
        folder = self._writer.folder
        entry = self._writer.finish(folder.name, partial=True)
        self._writer = None
        if self._long is not None:
            self._commit_part(entry, self._long)
        else:
            self._commit_documents(entry if self._joining is None else self._joined(self._joining, entry, folder))
        self._joining = None
        self._segment_began = time.monotonic()
        self._torn = False

    def _joined(self, prepared: PreparedDocument, entry: SegmentEntry, folder: Path) -> SegmentEntry:
        """A document of its committed parts and the last one, which is written to the folder."""
        commits = self.commits
        last = Segment(folder, entry, commits.manifest.settings, commits.product_quantizer)
        return join_parts([*commits.snapshot.parts(prepared), last], commits.new_segment_folder())

    def _commit_part(self, entry: SegmentEntry, last: Piece) -> None:
        prepared = last.prepared
        part = DocumentPart(entry, prepared.document.id, f"{prepared.digest:016x}", last.end)
        unfinished = (*self.commits.manifest.unfinished, part)
        self.commits.commit((), [], building=True, unfinished=unfinished)

    def _commit_documents(self, entry: SegmentEntry) -> None:
        replaced = [
            location for identifier in self._written if (location := self._on_the_way.pop(identifier)) is not None
        ]
        written = set(self._written)
        unfinished = tuple(part for part in self.commits.manifest.unfinished if part.document not in written)
        self.commits.commit((entry,), replaced, building=True, unfinished=unfinished)
        self._written = []


def codec_of_first(documents: Iterable[Document], encoder: Encoder, settings: IndexSettings) -> IndexCodec:
    """The codec that a build of these documents fits: to the vectors of the first chunk that has any."""
    chunks = _encoded(map(PreparedDocument.from_document, documents), encoder, settings)
    with closing(chunks):
        codec = fit_codec(
            settings.quantizer, np.zeros((0, settings.dim), np.float32), settings.resolve_pq(encoder.product_quantizer)
        )
        for encoded in chunks:
            codec = _fitted(encoded, encoder, settings)
            if len(encoded.token_rows):
                break
        return codec


def _encoded(
    documents: Iterable[PreparedDocument], encoder: Encoder, settings: IndexSettings
) -> Generator[EncodedChunk]:
    if isinstance(encoder, BulkEncoder):
        return encode_in_bulk(documents, encoder, settings.filter_threshold)
    return encode_ahead(documents, encoder, settings.filter_threshold)


def _fitted(encoded: EncodedChunk, encoder: Encoder, settings: IndexSettings) -> IndexCodec:
    vectors_RD = encoded.token_rows.vectors_RD
    some_RD = vectors_RD[:: len(vectors_RD) // FITTED_VECTORS + 1].astype(np.float32)
    return fit_codec(settings.quantizer, some_RD, settings.resolve_pq(encoder.product_quantizer))


def _blocks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Blocks of documents, looked up together; no id occurs twice in a block."""
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
