"""Searches that end before they are done: by time, from another thread, by Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

from densephrases import Document, PhraseIndex
from densephrases.arrays import Floats
from densephrases.errors import DeadlineExceededError, DensePhrasesError
from densephrases.index.candidates import exact
from densephrases.index.kinds import CANDIDATE_KINDS, CandidateKind
from densephrases.index.segment.reader import Segment
from densephrases.index.vectors.store import VectorStore
from densephrases.search.deadline import Deadline
from densephrases.search.scoring import searchable
from tests.index.made_up import CodedEncoder, long_text

QUESTION = "where is the river?"
DOCUMENTS = [Document(f"d{i}", long_text(i, 120), f"title {i}", {"even": i % 2 == 0}) for i in range(24)]


def test_it_ends_after_its_time() -> None:
    Deadline.after(1000).check()
    with pytest.raises(DeadlineExceededError, match=r"ended after its limit of 0 s; allow more time"):
        Deadline.after(0).check()
    assert issubclass(DeadlineExceededError, DensePhrasesError)


def test_it_is_cancelled() -> None:
    deadline, other = Deadline.never(), Deadline.never()
    deadline.check()
    deadline.cancel()
    with pytest.raises(DeadlineExceededError, match="was cancelled"):
        deadline.check()
    other.check()


class Ends(Deadline):
    """After a number of checks."""

    def __init__(self, checks: int) -> None:
        super().__init__()
        self.left = checks

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            self.cancel()
        super().check()


@pytest.fixture(scope="module", params=CANDIDATE_KINDS)
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    kind: CandidateKind = request.param
    folder = tmp_path_factory.mktemp("index")
    encoder = CodedEncoder(lexical_weight=0.5)
    made = PhraseIndex.create(folder, DOCUMENTS, model=encoder, quantizer="pq", candidates=kind)
    assert made.folder.segments[0].entry.candidates == kind
    return made


OPTIONS: list[dict[str, Any]] = [
    {},
    {"exact": True, "effort": 1.0},
    {"unit": "document", "k": 24},
    {"where": {"even": True}},
    {"documents": ["d3"], "unit": "sentence"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_wherever_it_ends_the_next_search_is_complete(
    index: PhraseIndex, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact, "_SCAN_ROWS", 300)
    questions = [QUESTION, "who built it?"]
    expected = PhraseIndex.open(index.folder.folder, index.encoder).search(questions, **options)
    checks = 0
    while True:
        fresh = PhraseIndex.open(index.folder.folder, index.encoder)
        deadline = Ends(checks)
        try:
            found = fresh.search(questions, **options, deadline=deadline)
        except DeadlineExceededError:
            assert fresh.search(questions, **options) == expected
            checks += 1
        else:
            break
    assert found == expected
    assert checks >= 5


def test_extraction_ends_as_well(index: PhraseIndex) -> None:
    assert len(index.extract(["Paris", "London"], "river", deadline=Deadline.after(1000))) == 2
    with pytest.raises(DeadlineExceededError):
        index.extract(["Paris"], "river", deadline=Deadline.after(0))


def waiting_scan(begun: Event, go_on: Event, blocks: list[int]) -> Callable[..., Iterator[tuple[int, Floats]]]:
    """The scan of a store, which waits after its third block."""
    scan = VectorStore.scan

    def scanned(store: VectorStore, queries: Floats, block_rows: int) -> Iterator[tuple[int, Floats]]:
        for first, scores in scan(store, queries, block_rows):
            blocks.append(first)
            if len(blocks) == 3:
                begun.set()
                assert go_on.wait(60)
            yield first, scores

    return scanned


def test_an_exact_scan_is_cancelled_from_another_thread(index: PhraseIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"exact": True, "effort": 1.0}
    expected = index.search(QUESTION, **options)
    fresh = PhraseIndex.open(index.folder.folder, index.encoder)
    begun, go_on, blocks = Event(), Event(), list[int]()
    deadline = Deadline.never()
    monkeypatch.setattr(exact, "_SCAN_ROWS", 8)
    monkeypatch.setattr(exact, "_KEPT_BYTES", 0)
    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as executor:
        patch.setattr(VectorStore, "scan", waiting_scan(begun, go_on, blocks))
        search = executor.submit(lambda: fresh.search(QUESTION, deadline=deadline, **options))
        assert begun.wait(60)
        deadline.cancel()
        go_on.set()
        with pytest.raises(DeadlineExceededError, match="cancelled"):
            search.result(60)
    assert len(blocks) == 3 < index.info().vectors // 8
    assert fresh.search(QUESTION, **options) == expected


def test_records_are_not_read_on(index: PhraseIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a segment without an index of metadata; what was read of the filter is not kept."""
    monkeypatch.setattr(Segment, "metadata_index", None)
    monkeypatch.setattr(searchable, "_RECORDS_A_CHECK", 2)
    fresh = PhraseIndex.open(index.folder.folder, index.encoder)
    with pytest.raises(DeadlineExceededError):
        fresh.search(QUESTION, where={"even": True}, deadline=Ends(4))
    found = {answer.document.id for answer in fresh.search(QUESTION, 24, where={"even": True}, unit="document")}
    assert found == {f"d{i}" for i in range(0, 24, 2)}


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_an_exact_scan(tmp_path: Path) -> None:
    PhraseIndex.create(tmp_path, DOCUMENTS, model=CodedEncoder(), quantizer="int8", candidates="ivf-pq")
    command = [sys.executable, "-c", _ENDLESS, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stdout.readline() == "scanning\n"
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode in (-signal.SIGINT, 130, 1)
    assert errors.strip().endswith("KeyboardInterrupt")


_ENDLESS = """
import signal
import sys
from itertools import count
from pathlib import Path
from densephrases import PhraseIndex
from densephrases.index.candidates import exact
from densephrases.index.vectors.store import VectorStore
from tests.index.made_up import CodedEncoder

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts in the background
scan = VectorStore.scan

def endless(store, queries, block_rows):
    for number in count():
        if number == 100:
            print("scanning", flush=True)
        yield from scan(store, queries, block_rows)

exact._KEPT_BYTES = 0
exact._SCAN_ROWS = 64
VectorStore.scan = endless
PhraseIndex.open(Path(sys.argv[1]), CodedEncoder()).search("where?", exact=True, effort=1.0)
"""


def test_a_deadline_costs_nothing_to_speak_of(index: PhraseIndex) -> None:
    """Fewer checks than questions times segments would be too few, one for each row too many."""
    deadline = Ends(10**9)
    index.search([QUESTION] * 8, deadline=deadline)
    assert 8 < 10**9 - deadline.left < np.sqrt(index.info().vectors) * 16
