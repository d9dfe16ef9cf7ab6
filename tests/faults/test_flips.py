"""The attack by damaged files: a short form, and that it would notice what it looks for."""

import os
import signal
from pathlib import Path

import pytest

from densephrases.index.files import checked
from tests.faults import flips
from tests.faults.damage import DAMAGES, Judge, damaged, seeded
from tests.faults.flips import attack_forged, attack_indexes, attack_models, build, said, struck


def test_indexes(tmp_path: Path) -> None:
    outcome = attack_indexes(70, 24, tmp_path)
    assert outcome.failures == ()
    assert outcome.cases == 70


def test_models(tmp_path: Path) -> None:
    outcome = attack_models(40, 24, tmp_path)
    assert outcome.failures == ()
    assert outcome.cases == 40


def test_forged_indexes(tmp_path: Path) -> None:
    outcome = attack_forged(40, 24, tmp_path)
    assert outcome.failures == ()
    assert outcome.cases == 40


def test_every_damage_changes_a_file() -> None:
    random = seeded(1)
    for data in (b"", b"a", bytes(9), bytes(range(256)) * 9):
        kinds = {damaged(data, number, random)[0] for number in range(20)}
        assert kinds == ({"extend"} if not data else {kind.__name__ for kind in DAMAGES if kind.__name__ in kinds})
        assert all(damaged(data, number, random)[1] != data for number in range(20))


def unverified(folder: Path, option: str) -> object:
    """What an index says if it trusts its files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checked.CheckedFile, "_first_damaged", lambda *_: None)
        return flips.index_answers(folder, option)


def killed(folder: Path, option: str) -> object:
    if (folder / "deadly").exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_changed_answers_are_noticed(tmp_path: Path) -> None:
    place = build(tmp_path / "index", "int8", "exact")
    file = next(place.rglob("000001/passage_tokens.bin"))
    with Judge("tests.faults.test_flips:unverified") as judge:
        judge.expect(place)
        (failure,) = struck(judge, place, file, 0, seeded(2))
    assert "flip in index/segments/000001/passage_tokens.bin" in failure
    assert "other answers" in failure or "raw" in failure


def test_a_killed_process_is_noticed_and_started_again(tmp_path: Path) -> None:
    with Judge("tests.faults.test_flips:killed") as judge:
        judge.expect(tmp_path)
        (tmp_path / "deadly").touch()
        assert judge.problem(tmp_path) == "the process died with code -9"
        (tmp_path / "deadly").unlink()
        judge.restart()
        assert judge.problem(tmp_path) == ""


def test_answers_are_the_same_again(tmp_path: Path) -> None:
    place = build(tmp_path / "index", "pq", "passages")
    first, again = (said(flips.opened(place)) for _ in range(2))
    assert first == again
