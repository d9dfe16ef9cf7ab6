"""The state machine in short, and that it notices an index that forgets."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from densephrases.search.phrase_index import PhraseIndex
from tests.faults.state_machine import PROMISE, attack


def test_handles_show_committed_states(tmp_path: Path) -> None:
    outcome = attack(60, 0, tmp_path)
    assert outcome.failures == ()
    assert outcome.cases >= 60
    assert outcome.promise == PROMISE


def test_a_forgotten_deletion_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(self: PhraseIndex, ids: Iterable[str]) -> int:
        return len(list(ids))

    monkeypatch.setattr(PhraseIndex, "delete", forget)
    assert attack(200, 0, tmp_path).failures
