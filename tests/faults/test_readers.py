"""Some reads while others write, and that states between two commits are noticed."""

from pathlib import Path

from .readers import PROMISE, attack, read_while_others_write


def test_readers(tmp_path: Path) -> None:
    outcome = attack(120, 1, tmp_path)
    assert outcome.failures == ()
    assert outcome.promise == PROMISE
    assert outcome.cases >= 120


def test_states_between_two_commits_are_noticed(tmp_path: Path) -> None:
    """The writers commit every few documents."""
    outcome = read_while_others_write(400, 1, tmp_path, torn=True)
    assert any("generations" in failure for failure in outcome.failures)
