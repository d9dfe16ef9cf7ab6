"""Documents to token vectors: one chunk is encoded while the next is prepared and the one before it is written.

The vectors of a passage may depend on its neighbours in a batch (int8 models scale a whole batch alike). Chunks
therefore depend only on the documents since the last chunk that ended with a document. Builds are committed only there,
so an interrupted and resumed build makes the same vectors as an uninterrupted one.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.segment.incoming import Chunk, Piece
from densephrases.index.segment.passage_terms import PassageTerms
from densephrases.index.segment.token_rows import TokenRows
from densephrases.model.encoder import Encoder
from densephrases.model.tokenizer import TokenizedPassage
from densephrases.text.passages import document_passages

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
        cls, chunk: Chunk, tokenized: list[TokenizedPassage], encoder: Encoder, threshold: float | None
    ) -> Self:
        encoded = encoder.encode_tokenized(tokenized)
        rows = TokenRows.from_vectors(encoded, threshold, encoder.config.vector_size)
        return cls(chunk, rows, PassageTerms.from_passages(chunk.texts()))


def chunks(documents: Iterable[PreparedDocument], characters: int) -> Iterator[Chunk]:
    """Chunks of at least `characters` that end with a document; only documents that are longer alone are split.

    After a chunk that ends with a document the next begins as if it were the first.
    """
    chunk = Chunk()
    for prepared in documents:
        piece = Piece(prepared)
        chunk.pieces.append(piece)
        for span in document_passages(prepared.document):
            if chunk.holds(2 * characters):
                yield chunk
                piece = Piece(prepared, opens=False)
                chunk = Chunk([piece])
            chunk.add(piece, span)
        piece.closes = True
        if chunk.holds(characters) or len(chunk.pieces) >= chunk_documents(characters):
            yield chunk
            chunk = Chunk()
    if chunk.pieces:
        yield chunk


def chunk_documents(characters: int) -> int:
    """The most documents of a chunk, which many empty ones would never fill."""
    return max(CHUNK_DOCUMENTS, characters // CHARACTERS_PER_DOCUMENT)


def encode_ahead(
    documents: Iterable[PreparedDocument], encoder: Encoder, threshold: float | None
) -> Generator[EncodedChunk]:
    """Encoded chunks in order. Everything but the encoder's forward pass happens in the caller's thread."""
    pending: deque[Future[EncodedChunk]] = deque()
    with ThreadPoolExecutor(1, "encoder") as executor:
        try:
            for chunk in chunks(documents, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk):
                tokenized = encoder.tokens.passages(chunk.texts())
                pending.append(executor.submit(EncodedChunk.from_tokenized, chunk, tokenized, encoder, threshold))
                if len(pending) > 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
