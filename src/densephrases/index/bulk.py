"""Chunks through an encoder on a device: processes tokenise, a thread gives work to the device, another takes results.

The caller's thread reads documents and writes rows. All else happens ahead of it, in order. As in `build`, a chunk
depends on nothing but the documents since the last one that ended with a document.
"""

import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from densephrases.index.build import CHARACTERS_PER_TOKEN, Chunk, EncodedChunk, Piece, chunk_documents, chunks
from densephrases.index.identity import PreparedDocument
from densephrases.index.rows import Rows
from densephrases.index.tokenizing import CutDocuments, TokenizerPool, results, tokenizer_pool
from densephrases.model.bulk import BulkEncoder
from densephrases.model.packing import PackedPassages, Packing
from densephrases.text.sentences import TextSpan

AHEAD = 4  # chunks on their way: two are tokenised, one is computed, one is copied back
# A thread that launches kernels gives Python's lock away at every one. It must not wait for it longer than for a few.
_SWITCH_SECONDS = 1e-4


class _Tokenizing(NamedTuple):
    """A chunk, and the tokens of its passages; of whole documents also their passages, which it lacks as yet."""

    chunk: Chunk
    cut: list[Future[CutDocuments]]
    tokenized: list[Future[PackedPassages]]


class _Packed(NamedTuple):
    passages: PackedPassages
    packing: Packing


def encode_in_bulk(
    documents: Iterable[PreparedDocument], encoder: BulkEncoder, threshold: float | None
) -> Generator[EncodedChunk]:
    """Encoded chunks in order, as `encode_ahead` gives them."""
    pending: deque[Future[EncodedChunk]] = deque()
    with _quick_switches(), ExitStack() as stack:
        pool = stack.enter_context(tokenizer_pool(encoder.tokens, encoder.workers))
        packing, computing, fetching = (stack.enter_context(_thread(name)) for name in ("pack", "compute", "fetch"))
        for given in _tokenizing(documents, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk, pool):
            packed = packing.submit(_pack, given, encoder)
            started = computing.submit(_start, packed, encoder, threshold)
            pending.append(fetching.submit(_finish, given.chunk, packed, started, encoder))
            if len(pending) > AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _tokenizing(documents: Iterable[PreparedDocument], characters: int, pool: TokenizerPool) -> Iterator[_Tokenizing]:
    """Documents are cut by the pool, but for those that alone are longer than a chunk."""
    chunk = Chunk()
    held = 0
    for prepared in documents:
        length = len(prepared.document.text)
        is_long = length > 2 * characters
        if chunk.pieces and (is_long or held >= characters or len(chunk.pieces) >= chunk_documents(characters)):
            yield _cut(chunk, pool)
            chunk, held = Chunk(), 0
        if is_long:
            for part in chunks([prepared], characters):
                yield _Tokenizing(part, [], pool.tokenize(part.texts()))
        else:
            chunk.pieces.append(Piece(prepared, closes=True))
            held += length
    if chunk.pieces:
        yield _cut(chunk, pool)


def _cut(chunk: Chunk, pool: TokenizerPool) -> _Tokenizing:
    return _Tokenizing(chunk, pool.cut([piece.prepared.document for piece in chunk.pieces]), [])


def _pack(given: _Tokenizing, encoder: BulkEncoder) -> _Packed:
    cut = results(given.cut)
    _add_passages(given.chunk, cut)
    passages = PackedPassages.join([*(part.packed for part in cut), *results(given.tokenized)])
    return _Packed(passages, Packing.of(passages, encoder.tokens_per_batch))


def _add_passages(chunk: Chunk, cut: list[CutDocuments]) -> None:
    counts = (count for part in cut for count in part.passages_D.tolist())
    spans = (TextSpan(*span) for part in cut for span in part.spans_P2.tolist())
    for piece, count in zip(chunk.pieces, counts, strict=bool(cut)):
        for _ in range(count):
            chunk.add(piece, next(spans))


def _start(packed: "Future[_Packed]", encoder: BulkEncoder, threshold: float | None) -> Any:
    return encoder.start(*packed.result(), threshold)


def _finish(chunk: Chunk, packed: "Future[_Packed]", started: Future[Any], encoder: BulkEncoder) -> EncodedChunk:
    return EncodedChunk(chunk, Rows.of_packed(packed.result().passages, encoder.finish(started.result())))


@contextmanager
def _thread(name: str) -> Iterator[ThreadPoolExecutor]:
    executor = ThreadPoolExecutor(1, name)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
