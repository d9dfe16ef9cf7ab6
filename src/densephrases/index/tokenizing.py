"""Passages tokenised by other processes: a GPU encodes faster than one core can cut text into tokens."""

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from tokenizers import Tokenizer

from densephrases.errors import PhraseIndexError
from densephrases.model.config import ModelConfig
from densephrases.model.packing import PackedPassages
from densephrases.model.tokens import Tokens
from densephrases.text.passages import Passage

TASK_PASSAGES = 128

_worker: list[Tokens] = []  # of a process that tokenises: what it was started with


class TokenizerPool:
    """Tokenises lists of passages, piece by piece in several processes, or with none in the caller's thread."""

    def __init__(self, tokens: Tokens, executor: ProcessPoolExecutor | None) -> None:
        self._tokens = tokens
        self._executor = executor

    def submit(self, passages: Sequence[Passage]) -> list[Future[PackedPassages]]:
        """One after the other they are what was given; call `joined` with them, from any thread."""
        pieces = [passages[at : at + TASK_PASSAGES] for at in range(0, len(passages), TASK_PASSAGES)] or [[]]
        if self._executor is None:
            return [_done(PackedPassages.of(self._tokens.passages(piece))) for piece in pieces]
        with _ended_explained():
            return [self._executor.submit(_pack, piece) for piece in pieces]


def joined(futures: Sequence[Future[PackedPassages]]) -> PackedPassages:
    with _ended_explained():
        return PackedPassages.join([future.result() for future in futures])


@contextmanager
def _ended_explained() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise PhraseIndexError(
            "A process that tokenises has ended: there was too little memory, or a script indexes outside of "
            '`if __name__ == "__main__":`, where processes that it starts begin as well.'
        ) from error


@contextmanager
def tokenizer_pool(tokens: Tokens, workers: int) -> Iterator[TokenizerPool]:
    if workers == 0:
        yield TokenizerPool(tokens, None)
        return
    # Spawned, not forked: a copy of a process whose threads are at work may wait forever for one of their locks.
    context = multiprocessing.get_context("spawn")
    state = (tokens.tokenizer.to_str(), tokens.config)
    executor = ProcessPoolExecutor(workers, context, _begin, state)
    try:
        yield TokenizerPool(tokens, executor)
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _begin(tokenizer: str, config: ModelConfig) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; whoever started this one ends it
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _worker.append(Tokens(Tokenizer.from_str(tokenizer), config))


def _pack(passages: Sequence[Passage]) -> PackedPassages:
    return PackedPassages.of(_worker[0].passages(passages))


def _done(packed: PackedPassages) -> Future[PackedPassages]:
    future: Future[PackedPassages] = Future()
    future.set_result(packed)
    return future
