"""Readers while others write: processes and threads change an index without pause, and every answer must fit a commit.

All documents of a commit are of the same generation, which their texts and their metadata say.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from unittest.mock import patch

from densephrases.errors import DataError, IndexBusyError
from densephrases.index.build import builder
from densephrases.index.folder import IndexFolder
from densephrases.search.phrase_index import PhraseIndex

from .file_operations import unsynced
from .outcome import Outcome
from .small_index import created, encoder, held_by, made, small_segments

PROMISE = "A reader sees one committed state, whatever others write, and opening never fails for it"
DOCUMENTS = 8
_SEARCHING = 3  # threads that share an index with one that writes
_WRITERS = 2  # processes
FEWEST = DOCUMENTS - _WRITERS - 1  # each writer deletes one of what it believes to be all
_PAUSES = (0.0, 0.01, 0.05, 0.3)  # seconds between opening and reading
_ROOT = Path(__file__).parents[2]


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    return read_while_others_write(cases, seed, folder)


def read_while_others_write(cases: int, seed: int, folder: Path, *, torn: bool = False) -> Outcome:
    """`torn` commits every document alone, which is a fault that readers have to notice."""
    place = folder / "index"
    reads = Reads(cases)
    with small_segments(), unsynced():
        with patch.object(builder, "PARTIAL_VECTORS", 100_000):
            created(place).add([made(number) for number in range(DOCUMENTS)], encoder())
        before = IndexFolder.open(place).manifest.next_number
        with _writers(place, seed, reads, torn=torn), _sharing(place, seed, reads):
            _read_alone(place, Random(seed), reads)  # noqa: S311
        commits = IndexFolder.open(place).manifest.next_number - before
    if commits < min(cases / 100, 10):
        reads.failures.append(f"the writers made only {commits} files while {reads.count} reads were made")
    return Outcome(PROMISE, reads.count, tuple(reads.failures))


class Reads:
    """Counts what was read and collects what was wrong, of all threads."""

    def __init__(self, wanted: int) -> None:
        self.count = 0
        self.failures: list[str] = []
        self._wanted = wanted
        self._lock = threading.Lock()

    @property
    def are_enough(self) -> bool:
        return self.count >= self._wanted or len(self.failures) > 20

    def record(self, name: str, read: Callable[[], str]) -> None:
        try:
            wrong = read()
        except Exception as error:  # whatever a reader raises is a failure
            wrong = repr(error)
        with self._lock:
            self.count += 1
            if wrong:
                self.failures.append(f"{name}: {wrong}")


def _read_alone(place: Path, random: Random, reads: Reads) -> None:
    """Open anew, open and read later, and hold what was opened long ago."""
    kept = PhraseIndex.open(place, encoder())
    first = [held_by(kept.folder)]
    while not reads.are_enough:
        reads.record("fresh", lambda: _wrong(PhraseIndex.open(place, encoder())))
        reads.record("lazy", lambda: _wrong_later(PhraseIndex.open(place, encoder()), random.choice(_PAUSES)))
        reads.record("kept", lambda: "" if held_by(kept.folder) == first[-1] else "it has changed")
        reads.record("reopened", lambda: _wrong(kept.reopened()))
        if random.random() < 0.05:
            reads.record("refreshed", lambda: _wrong_refreshed(kept))
            first.append(held_by(kept.folder))


def _wrong_later(index: PhraseIndex, seconds: float) -> str:
    time.sleep(seconds)
    return _wrong(index)


def _wrong_refreshed(index: PhraseIndex) -> str:
    index.refresh()
    return _wrong(index)


def _wrong(index: PhraseIndex) -> str:
    """Whether documents and answers are those of one commit."""
    found = held_by(index.folder)
    generations = {document.metadata["generation"] for document in found.values()}
    if len(generations) > 1:
        return f"it holds generations {sorted(generations)}"
    if len(found) < FEWEST:
        return f"it holds {len(found)} documents"
    return _wrong_answers(index)


def _wrong_answers(index: PhraseIndex) -> str:
    answers = index.search("where was the tower built", k=DOCUMENTS, unit="document")
    generations = {answer.document.metadata["generation"] for answer in answers}
    if len(generations) > 1:
        return f"it answers from generations {sorted(generations)}"
    for answer in answers:
        document = made(int(answer.document.id[1:]), answer.document.metadata["generation"])
        if document.text[answer.start : answer.end] != answer.text:
            return f"it answers {answer.text!r} from {document}"
    return "" if len(answers) >= FEWEST else f"it answers from {len(answers)} documents"


@contextmanager
def _sharing(place: Path, seed: int, reads: Reads) -> Iterator[None]:
    """Threads that search one index while another thread changes it."""
    shared = PhraseIndex.open(place, encoder())
    ended = threading.Event()

    def search() -> None:
        while not ended.is_set():
            reads.record("shared", lambda: _wrong_answers(shared))
            time.sleep(0.02)

    def write() -> str:
        random = Random(seed)  # noqa: S311
        with patch.object(builder, "PARTIAL_VECTORS", 100_000):
            while not ended.is_set():
                write_once(shared.folder, random)
                shared.refresh()
                time.sleep(0.02)
        return ""

    threads = [
        threading.Thread(target=target)
        for target in (*[search] * _SEARCHING, lambda: reads.record("writing thread", write))
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def write_once(index: IndexFolder, random: Random) -> None:
    """A change that is one commit, or none if another writer is at work."""
    with suppress(IndexBusyError, DataError):
        kind = random.choice(["update", "update", "delete", "optimize"])
        if kind == "update":
            generation = random.randrange(1_000_000)
            index.update([made(number, generation) for number in range(DOCUMENTS)], encoder())
        elif kind == "optimize":
            index.optimize()
        elif index.documents == DOCUMENTS:
            index.delete([f"d{random.randrange(DOCUMENTS)}"])


@contextmanager
def _writers(place: Path, seed: int, reads: Reads, *, torn: bool) -> Iterator[None]:
    """Processes that write until their input ends."""
    processes = [
        subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "tests.faults.readers", str(place), str(seed + number), str(int(torn))],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(_WRITERS)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()  # it has begun
        yield
    finally:
        for process in processes:
            _, errors = process.communicate(timeout=300)
            if process.returncode != 0:
                reads.failures.append(f"a writer failed: {errors[-1000:]}")


def _write(place: Path, seed: int, *, torn: bool) -> None:
    ended = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    random = Random(seed)  # noqa: S311
    with small_segments(), unsynced(), patch.object(builder, "PARTIAL_VECTORS", 0 if torn else 100_000):
        print("begun", flush=True)  # noqa: T201
        while not ended.is_set():
            write_once(IndexFolder.open(place), random)
            time.sleep(random.random() / 50)


if __name__ == "__main__":
    _write(Path(sys.argv[1]), int(sys.argv[2]), torn=sys.argv[3] == "1")
