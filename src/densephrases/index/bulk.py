"""Chunks through an encoder on a device: processes tokenise, a thread gives work to the device, another takes results.

The caller's thread reads documents and writes rows. All else happens ahead of it, in order.
"""

import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from densephrases.index.build import CHARACTERS_PER_TOKEN, Chunk, EncodedChunk, chunks
from densephrases.index.identity import PreparedDocument
from densephrases.index.rows import Rows
from densephrases.index.tokenizing import joined, tokenizer_pool
from densephrases.model.bulk import BulkEncoder
from densephrases.model.packing import PackedPassages, Packing

AHEAD = 4  # chunks on their way: two are tokenised, one is computed, one is copied back
# A thread that launches kernels gives Python's lock away at every one. It must not wait for it longer than for a few.
_SWITCH_SECONDS = 1e-4


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
        for chunk in chunks(documents, CHARACTERS_PER_TOKEN * encoder.tokens_per_chunk):
            tokenized = pool.submit([p for piece in chunk.pieces for p in piece.passages()])
            packed = packing.submit(_pack, tokenized, encoder)
            started = computing.submit(_start, packed, encoder, threshold)
            pending.append(fetching.submit(_finish, chunk, packed, started, encoder))
            if len(pending) > AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def _pack(tokenized: Sequence[Future[PackedPassages]], encoder: BulkEncoder) -> _Packed:
    passages = joined(tokenized)
    return _Packed(passages, Packing.of(passages, encoder.tokens_per_batch))


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
