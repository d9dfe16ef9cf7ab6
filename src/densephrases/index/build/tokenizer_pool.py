"""Text cut into passages and tokenised by other processes: a GPU encodes faster than one core can tokenise."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import PhraseIndexError
from densephrases.index.segment.passage_terms import PassageTerms
from densephrases.model.config import ModelConfig
from densephrases.model.packing import PackedPassages
from densephrases.model.tokenizer import TOKENIZER_FILE, Tokens
from densephrases.text.documents import Document
from densephrases.text.passages import Passage, document_passages, passage_of

TASK_PASSAGES = 128
TASK_CHARACTERS = 1 << 17

Result = TypeVar("Result")
Item = TypeVar("Item", Document, Passage)

_worker: list[Tokens] = []  # the tokeniser of a worker process

# Shape suffixes: D documents, P passages.


class TokenizedPassages(NamedTuple):
    packed: PackedPassages
    terms: PassageTerms

    @classmethod
    def join(cls, several: Sequence["TokenizedPassages"]) -> "TokenizedPassages":
        return cls(
            PackedPassages.join([each.packed for each in several]), PassageTerms.join([each.terms for each in several])
        )


class CutDocuments(NamedTuple):
    """The passages of some documents: how many each has, their spans in its text, and their tokens."""

    passages_D: NDArray[np.int64]
    spans_P2: NDArray[np.int64]
    tokenized: TokenizedPassages


class TokenizerPool:
    """Cuts and tokenises in several processes, or, with no workers, in the caller's thread.

    Wait for the futures with `results`; they are in the order of what was given.
    """

    def __init__(self, tokens: Tokens, workers: int) -> None:
        self._tokens = tokens
        self._processes = _Processes(tokens, workers) if workers else None

    def stop(self) -> None:
        """End the processes; tasks that none has begun are dropped."""
        if self._processes is not None:
            self._processes.stop()

    def cut(self, documents: Sequence[Document]) -> list[Future[CutDocuments]]:
        tasks: list[list[Document]] = [[]]
        characters = 0
        for document in documents:
            if characters >= TASK_CHARACTERS:
                tasks.append([])
                characters = 0
            tasks[-1].append(replace(document, metadata={}))  # which is of no use there
            characters += len(document.text)
        return [self._submit(_cut, task) for task in tasks]

    def tokenize(self, passages: Sequence[Passage]) -> list[Future[TokenizedPassages]]:
        tasks = [passages[at : at + TASK_PASSAGES] for at in range(0, len(passages), TASK_PASSAGES)] or [[]]
        return [self._submit(_tokenize, task) for task in tasks]

    def _submit(self, work: Callable[[Tokens, Sequence[Item]], Result], task: Sequence[Item]) -> Future[Result]:
        if self._processes is not None:
            with _ended_explained():
                return self._processes.executor.submit(_in_worker, work, task)
        future: Future[Result] = Future()
        future.set_result(work(self._tokens, task))
        return future


def results(futures: Sequence[Future[Result]]) -> list[Result]:
    with _ended_explained():
        return [future.result() for future in futures]


@contextmanager
def _ended_explained() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise PhraseIndexError(
            "A tokeniser process was killed, probably because memory ran out; what is committed is kept: "
            "run the same command again."
        ) from error


class _ScriptlessProcess(SpawnProcess):
    """Hides the script at every start: an executor may start further processes in the middle of its work."""

    def start(self) -> None:
        with _without_script(), _without_interrupts():
            super().start()


class _Spawning(SpawnContext):
    """Spawns instead of forking: a fork of a process with running threads may wait forever for one of their locks."""

    Process = _ScriptlessProcess


class _Processes:
    """Processes that read the tokeniser from a file.

    Arguments of a starting process go through a pipe, which a tokeniser does not fit into: each process would start
    only after the one before it had imported everything, and if one failed, its pipe would stay full forever.
    """

    def __init__(self, tokens: Tokens, workers: int) -> None:
        self._folder = TemporaryDirectory(prefix="densephrases-")
        folder = Path(self._folder.name)
        tokens.tokenizer.save(str(folder / TOKENIZER_FILE))
        self.executor = ProcessPoolExecutor(workers, _Spawning(), _begin, (folder, tokens.config))

    def stop(self) -> None:
        self.executor.shutdown(wait=True, cancel_futures=True)
        self._folder.cleanup()


@contextmanager
def _without_script() -> Iterator[None]:
    """Spawned processes would first run the script that started them, which takes time and may index again."""
    script = sys.modules["__main__"]
    hidden: dict[str, Any] = {
        name: script.__dict__.pop(name) for name in ("__spec__", "__file__") if name in script.__dict__
    }
    script.__spec__ = None
    try:
        yield
    finally:
        script.__dict__.update(hidden)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal. The parent ends those that are started here."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(folder: Path, config: ModelConfig) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _worker.append(Tokens.load(folder, config))


def _in_worker(work: Callable[[Tokens, Any], Result], task: Sequence[Any]) -> Result:
    return work(_worker[0], task)


def _tokenize(tokens: Tokens, passages: Sequence[Passage]) -> TokenizedPassages:
    return TokenizedPassages(
        PackedPassages.from_tokenized(tokens.passages(passages)), PassageTerms.from_passages(passages)
    )


def _cut(tokens: Tokens, documents: Sequence[Document]) -> CutDocuments:
    spans = [document_passages(document) for document in documents]
    passages = [passage_of(document, span) for document, own in zip(documents, spans, strict=True) for span in own]
    return CutDocuments(
        np.array([len(own) for own in spans], dtype=np.int64),
        np.array([(span.start, span.end) for own in spans for span in own], dtype=np.int64).reshape(-1, 2),
        _tokenize(tokens, passages),
    )
