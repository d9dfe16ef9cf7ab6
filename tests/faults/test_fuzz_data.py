"""A few hundred of the attacks on the readers of data files."""

from pathlib import Path

import pytest

from tests.faults import fuzz_data


def test_few(tmp_path: Path) -> None:
    outcome = fuzz_data.attack(400, 1, tmp_path)
    assert (outcome.cases, outcome.failures) == (400, ())


def test_a_reader_that_fails_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("densephrases.data.squad.parse_json", lambda *_: 1 / 0)
    outcome = fuzz_data.attack(200, 1, tmp_path)
    assert any("squad.json: ZeroDivisionError" in failure for failure in outcome.failures)
