"""One `PhraseIndex` that several threads search while another one changes it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest

from densephrases import Document, PhraseIndex
from densephrases.index.candidates.by_kind import open_candidates
from densephrases.index.segment import reader
from densephrases.search.scoring import searchable
from densephrases.search.searcher import Searcher
from tests.index.made_up import CodedEncoder, HashEncoder, long_text

READERS = 4
QUESTION = "where is the river?"


def document(number: int, version: int = 0) -> Document:
    """Every passage says which version it is of."""
    metadata = {"version": version, "even": number % 2 == 0}
    return Document(f"d{number}", long_text(100 * version + number, 40), f"title {version}", metadata)


def test_searches_during_every_change(tmp_path: Path) -> None:
    """No answer mixes two states: all documents of a group are updated at once, and deleted at once."""
    index = PhraseIndex.create(tmp_path, [document(number) for number in range(6)], model=HashEncoder())
    stop = Event()
    searches: list[int] = []

    def search(number: int) -> None:
        while not stop.is_set():
            where = [None, {"even": True}, {"version": [0, 1, 2, 3, 4]}, {"even": f"x{len(searches)}"}][number % 4]
            for answers in index.search([QUESTION, "who?"], 6, unit="document", where=where):
                found = [answer.document for answer in answers if int(answer.document.id[1:]) < 6]
                assert len({each.metadata["version"] for each in found}) <= 1, found
                assert all(each.title == f"title {each.metadata['version']}" for each in found)
            searches.append(number)

    def change() -> None:
        for version in range(1, 5):
            index.update([document(number, version) for number in range(6)])
            index.add([document(number, version) for number in range(6 * version, 6 * version + 6)])
            index.delete([f"d{number}" for number in range(6 * version, 6 * version + 3)])
            index.optimize()
            index.refresh()

    with ThreadPoolExecutor(READERS) as executor:
        readers = [executor.submit(search, number) for number in range(READERS)]
        try:
            change()
        finally:
            stop.set()
        for each in readers:
            each.result(120)
    assert set(searches) == set(range(READERS))
    assert {a.document.metadata["version"] for a in index.search(QUESTION, 6, unit="document", documents=["d1"])} == {4}
    assert len(index) == 6 + 4 * 3


def at_once(threads: int, work: Callable[[int], Any]) -> list[Any]:
    start = Barrier(threads)

    def begin(number: int) -> Any:
        start.wait(60)
        return work(number)

    with ThreadPoolExecutor(threads) as executor:
        return list(executor.map(begin, range(threads)))


def test_a_search_that_began_before_a_change_does_not_bring_the_old_state_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread is about to build the searcher of the old state when another one finishes its change."""
    index = PhraseIndex.create(tmp_path, [document(0)], model=HashEncoder())
    building, changed = Event(), Event()

    class Slow(Searcher):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            building.set()
            changed.wait(0.5)  # the change itself has to wait, if the searcher is guarded

    monkeypatch.setattr("densephrases.search.phrase_index.Searcher", Slow)
    with ThreadPoolExecutor(2) as executor:
        search = executor.submit(index.search, QUESTION)
        assert building.wait(60)
        done = executor.submit(index.add, [document(1)])
        done.add_done_callback(lambda _: changed.set())
        search.result(60)
        done.result(60)
    assert {answer.document.id for answer in index.search(QUESTION, 10, unit="document")} == {"d0", "d1"}


def test_candidates_are_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [document(number) for number in range(60)]
    PhraseIndex.create(tmp_path, documents, model=CodedEncoder(), quantizer="pq", candidates="passages")
    index = PhraseIndex.open(tmp_path, CodedEncoder())
    opened = []

    def noted(*args: Any) -> Any:
        opened.append(args)
        Event().wait(0.2)
        return open_candidates(*args)

    monkeypatch.setattr(reader, "open_candidates", noted)
    answers = at_once(READERS, lambda _: index.search(QUESTION))
    assert answers == [answers[0]] * READERS
    assert len(opened) == len(index.folder.segments)


def test_many_filters_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searchable, "_FILTERS_KEPT", 2)
    index = PhraseIndex.create(tmp_path, [document(number) for number in range(8)], model=HashEncoder())

    def search(number: int) -> None:
        for each in range(120):
            wanted = f"d{(number + each) % 8}"
            assert {answer.document.id for answer in index.search(QUESTION, documents=[wanted])} == {wanted}

    at_once(READERS, search)
