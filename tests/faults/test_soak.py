"""The soak in short, and that it notices a fault."""

import sys
from pathlib import Path

import pytest

from tests.faults import soak
from tests.serve.own_process import FAILING

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")


def test_a_short_soak(tmp_path: Path) -> None:
    outcome = soak.attack(600, 1, tmp_path)
    assert (outcome.cases, outcome.failures) == (600, ())


def test_a_fault_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "QUESTIONS", [soak.QUESTIONS[0], FAILING])
    failures = soak.attack(100, 1, tmp_path).failures
    assert any(failure.startswith("questions: 500") for failure in failures)


def test_growing_memory_is_noticed() -> None:
    state = soak._Soak(0, {})
    soak._check_memory(state, 100 << 20, 120 << 20)
    assert state.failures == []
    soak._check_memory(state, 100 << 20, 300 << 20)
    assert state.failures == ["memory grew from 100 to 300 MiB"]
