"""Chunks through an encoder on a GPU: processes tokenise, one thread submits work to the GPU, another takes results.

The caller's thread reads documents and writes token vectors. All else happens ahead of it, in order. As in `chunks`, a
chunk depends only on the documents since the last one that ended with a document.
"""

import sys
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple

from densephrases.index.build.chunks import CHARACTERS_PER_TOKEN, EncodedChunk, chunk_documents, chunks
from densephrases.index.build.tokenizer_pool import CutDocuments, TokenizedPassages, TokenizerPool, results
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.incoming import Chunk, Piece
from densephrases.index.segment.passage_terms import PassageTerms
from densephrases.index.segment.token_rows import TokenRows
from densephrases.index.worker_threads import WorkerThreads
from densephrases.model.bulk_encoder import BulkEncoder
from densephrases.model.packing import PackedPassages, Packing
from densephrases.text.sentences import TextSpan

AHEAD = 4  # chunks: two are tokenised, one is computed, one is copied back
# A thread that launches kernels releases the GIL at each of them and must get it back soon.
_SWITCH_SECONDS = 1e-4


class _Tokenizing(NamedTuple):
    """A chunk and the tokens of its passages; of whole documents, which are not yet cut, their passages as well."""

    chunk: Chunk
    cut: list[Future[CutDocuments]]
    tokenized: list[Future[TokenizedPassages]]


class _Packed(NamedTuple):
    chunk: Chunk
    passages: PackedPassages
    terms: PassageTerms
    packing: Packing


class _Started(NamedTuple):
    chunk: Chunk
    passages: PackedPassages
    terms: PassageTerms
    computing: Any


class _Work:
    """The steps that a chunk goes through, each in a thread of its own."""

    def __init__(self, encoder: BulkEncoder, threshold: float | None) -> None:
        self.encoder = encoder
        self.threshold = threshold
        self._pool: TokenizerPool | None = None

    @property
    def pool(self) -> TokenizerPool:
        """Created by the thread that uses it, which Ctrl-C does not interrupt."""
        self._pool = self._pool or TokenizerPool(self.encoder.tokens, self.encoder.workers)
        return self._pool

    def stop(self) -> None:
        if self._pool is not None:
            self._pool.stop()

    def tokenize(self, chunk: Chunk) -> _Tokenizing:
        if chunk.passages:
            return _Tokenizing(chunk, [], self.pool.tokenize(chunk.texts()))
        return _Tokenizing(chunk, self.pool.cut([piece.prepared.document for piece in chunk.pieces]), [])

    def pack(self, given: _Tokenizing) -> _Packed:
        cut = results(given.cut)
        _add_passages(given.chunk, cut)
        passages, terms = TokenizedPassages.join([*(task.tokenized for task in cut), *results(given.tokenized)])
        return _Packed(given.chunk, passages, terms, Packing.from_passages(passages, self.encoder.tokens_per_batch))

    def start(self, given: _Packed) -> _Started:
        computing = self.encoder.start(given.passages, given.packing, self.threshold)
        return _Started(given.chunk, given.passages, given.terms, computing)

    def finish(self, given: _Started) -> EncodedChunk:
        rows = TokenRows.from_packed(given.passages, self.encoder.finish(given.computing))
        return EncodedChunk(given.chunk, rows, given.terms)


def encode_in_bulk(
    documents: Iterable[PreparedDocument], encoder: BulkEncoder, threshold: float | None
) -> Generator[EncodedChunk]:
    """Encoded chunks in order, like those of `encode_ahead`."""
    work = _Work(encoder, threshold)
    threads = WorkerThreads(work.tokenize, work.pack, work.start, work.finish)
    ahead = 0
    try:
        with _quick_switches():
            for chunk in _whole_chunks(documents, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk):
                threads.put(chunk)
                ahead += 1
                if ahead > AHEAD:
                    yield threads.get()
                    ahead -= 1
            for _ in range(ahead):
                yield threads.get()
    finally:
        threads.stop()
        work.stop()


def _whole_chunks(documents: Iterable[PreparedDocument], characters: int) -> Iterator[Chunk]:
    """Documents not yet cut into passages, except those that are longer than a chunk alone."""
    chunk = Chunk()
    held = 0
    for prepared in documents:
        length = len(prepared.document.text)
        is_long = length > 2 * characters
        if chunk.pieces and (is_long or held >= characters or len(chunk.pieces) >= chunk_documents(characters)):
            yield chunk
            chunk, held = Chunk(), 0
        if is_long:
            yield from chunks([prepared], characters)
        else:
            chunk.pieces.append(Piece(prepared, closes=True))
            held += length
    if chunk.pieces:
        yield chunk


def _add_passages(chunk: Chunk, cut: list[CutDocuments]) -> None:
    counts = (count for task in cut for count in task.passages_D.tolist())
    spans = (TextSpan(*span) for task in cut for span in task.spans_P2.tolist())
    for piece, count in zip(chunk.pieces, counts, strict=bool(cut)):
        for _ in range(count):
            chunk.add(piece, next(spans))


@contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
