"""A few faults of the disk, and that what they would harm is noticed."""

from pathlib import Path

import pytest

from densephrases.index.commits import Commits

from .disk_faults import PROMISE, attack


def test_disk_faults(tmp_path: Path) -> None:
    outcome = attack(30, 1, tmp_path)
    assert outcome.failures == ()
    assert (outcome.promise, outcome.cases) == (PROMISE, 30)


def test_what_keeps_a_disk_full_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Commits, "remove_uncommitted", lambda commits, before: None)
    assert any("left over" in failure for failure in attack(30, 1, tmp_path).failures)
