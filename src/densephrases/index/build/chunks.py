"""Documents to token vectors: one chunk is encoded while the next is prepared and the one before it is written.

The vectors of a passage may depend on its neighbours in a batch (int8 models scale a whole batch alike). Chunks
therefore depend only on the documents since the last chunk that ended with a document, and those of a document too long
for one chunk on its passages since the last of them. Builds are committed only at the end of chunks, so an interrupted
and resumed build makes the same vectors as an uninterrupted one.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import NamedTuple, Self

from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.incoming import Chunk, Piece
from densephrases.index.segment.passage_terms import PassageTerms
from densephrases.index.segment.token_rows import TokenRows
from densephrases.index.worker_threads import WorkerThreads
from densephrases.model.encoder import Encoder
from densephrases.model.tokenizer import TokenizedPassage
from densephrases.text.documents import Document
from densephrases.text.passages import document_passages
from densephrases.text.sentences import TextSpan, next_visible

CHARACTERS_PER_TOKEN = 4  # of English
CHUNK_DOCUMENTS = 1024
CHARACTERS_PER_DOCUMENT = 128


@dataclass(frozen=True, slots=True)
class EncodedChunk:
    chunk: Chunk
    token_rows: TokenRows  # of all its passages in turn
    terms: PassageTerms

    @classmethod
    def from_tokenized(
        cls,
        chunk: Chunk,
        tokenized: list[TokenizedPassage],
        encoder: Encoder,
        threshold: float | None,
        check: Callable[[], None] = lambda: None,
    ) -> Self:
        encoded = encoder.encode_tokenized(tokenized, check)
        rows = TokenRows.from_vectors(encoded, threshold, encoder.config.vector_size)
        return cls(chunk, rows, PassageTerms.from_passages(chunk.texts()))


def chunks(documents: Iterable[PreparedDocument], characters: int) -> Iterator[Chunk]:
    """Chunks of whole documents with at least `characters` together; documents longer than two chunks are cut.

    After a chunk that ends with a document the next begins as if it were the first.
    """
    chunk = Chunk()
    for prepared in documents:
        if len(prepared.document.text) > 2 * characters:
            if chunk.pieces:
                yield chunk
            yield from _pieces(prepared, characters)
        else:
            piece = Piece(prepared, closes=True)
            chunk.pieces.append(piece)
            for span in document_passages(prepared.document):
                chunk.add(piece, span)
            if not chunk.holds(characters) and len(chunk.pieces) < chunk_documents(characters):
                continue
            yield chunk
        chunk = Chunk()
    if chunk.pieces:
        yield chunk


def _pieces(prepared: PreparedDocument, characters: int) -> Iterator[Chunk]:
    """A document in chunks of its own, from where it is done."""
    piece = Piece(prepared, opens=not prepared.done, begin=prepared.done)
    chunk = Chunk([piece])
    for span in _spans_after(prepared.document, prepared.done):
        if chunk.holds(characters):
            yield chunk
            piece = Piece(prepared, opens=False, begin=piece.end)
            chunk = Chunk([piece])
        chunk.add(piece, span)
    piece.closes = True
    yield chunk


def _spans_after(document: Document, done: int) -> list[TextSpan]:
    """The passages that are left; another version may have cut them elsewhere, so one may begin inside."""
    spans = [span for span in document_passages(document) if span.end > done]
    if spans and spans[0].start < done:
        spans[0] = TextSpan(next_visible(document.text, done), spans[0].end)
    return spans


def chunk_documents(characters: int) -> int:
    """The most documents of a chunk, which many empty ones would never fill."""
    return max(CHUNK_DOCUMENTS, characters // CHARACTERS_PER_DOCUMENT)


class _Tokenized(NamedTuple):
    chunk: Chunk
    passages: list[TokenizedPassage]


class _StoppedError(Exception):
    """Ends the encoding of a chunk that nobody waits for any more."""


def encode_ahead(
    documents: Iterable[PreparedDocument], encoder: Encoder, threshold: float | None
) -> Generator[EncodedChunk]:
    """Encoded chunks in order. Everything but the encoder's forward pass happens in the caller's thread."""
    stopped = Event()

    def check() -> None:
        if stopped.is_set():
            raise _StoppedError

    def encode(given: _Tokenized) -> EncodedChunk:
        return EncodedChunk.from_tokenized(given.chunk, given.passages, encoder, threshold, check)

    threads = WorkerThreads(encode)
    ahead = 0
    try:
        for chunk in chunks(documents, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk):
            threads.put(_Tokenized(chunk, encoder.tokens.passages(chunk.texts())))
            ahead += 1
            if ahead > 1:
                yield threads.get()
                ahead -= 1
        for _ in range(ahead):
            yield threads.get()
    finally:
        stopped.set()
        threads.stop()
