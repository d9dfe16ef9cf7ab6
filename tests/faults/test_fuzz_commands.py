"""A few hundred command lines."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import log_as_before as log_as_before
from tests.faults import fuzz_commands


def test_few(tmp_path: Path, log_as_before: None) -> None:
    before = os.getcwd()  # noqa: PTH109
    outcome = fuzz_commands.attack(200, 1, tmp_path)
    assert (outcome.cases, outcome.failures) == (200, ())
    assert os.getcwd() == before  # noqa: PTH109


def test_a_command_that_fails_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_as_before: None) -> None:
    monkeypatch.setattr("densephrases.index.folder.IndexFolder.info", lambda _: 1 / 0)
    outcome = fuzz_commands.attack(200, 1, tmp_path)
    assert any("ZeroDivisionError" in failure for failure in outcome.failures)
