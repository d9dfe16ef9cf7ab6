"""A few hundred of the attacks on the readers of documents."""

from pathlib import Path

import pytest

from tests.faults import fuzz_documents


def test_few(tmp_path: Path) -> None:
    outcome = fuzz_documents.attack(400, 1, tmp_path)
    assert (outcome.cases, outcome.failures) == (400, ())


def test_a_reader_that_fails_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("densephrases.text.readers.jsonl.parse_json", lambda *_: 1 / 0)
    outcome = fuzz_documents.attack(200, 1, tmp_path)
    assert any(".jsonl: ZeroDivisionError" in failure for failure in outcome.failures)


def test_memory_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_documents, "MOST_MEMORY", -1)
    assert "bytes of memory" in fuzz_documents.attack(1, 1, tmp_path).failures[-1]
