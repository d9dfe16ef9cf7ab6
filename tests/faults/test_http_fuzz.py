"""The attack with fuzzed requests in short, and that it notices a fault."""

from pathlib import Path
from typing import Any

import pytest

from densephrases.serve.api import answers
from tests.faults import http_fuzz


def test_no_request_breaks_the_service(tmp_path: Path) -> None:
    outcome = http_fuzz.attack(300, 1, tmp_path)
    assert (outcome.cases, outcome.failures) == (300, ())


def test_a_fault_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(answers, "_refuse_too_thorough", failing)
    failures = http_fuzz.attack(300, 1, tmp_path).failures
    assert failures
    assert {failure.partition(":")[0] for failure in failures} == {"500"}
