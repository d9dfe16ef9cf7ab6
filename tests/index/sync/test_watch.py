"""Signals of changes below folders, by the real watcher."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from densephrases.errors import MissingExtraError
from densephrases.index.sync.watch import change_signals


def wait_for_change(signals: Iterator[bool]) -> None:
    """Ends with the first signal of a change; the watcher has no other end."""
    assert any(signals)


def test_a_signal_at_once_and_after_each_change(tmp_path: Path) -> None:
    stop = Event()
    signals = change_signals([tmp_path], stop)
    assert next(signals), "the first, when it watches already"
    (tmp_path / "inner").mkdir()
    wait_for_change(signals)
    (tmp_path / "inner" / "a.txt").write_text("x")
    wait_for_change(signals)
    (tmp_path / "inner" / "a.txt").unlink()
    wait_for_change(signals)
    stop.set()
    assert list(signals)[1:] == []


def test_a_folder_that_comes_back_is_watched_again(tmp_path: Path) -> None:
    docs, away = tmp_path / "docs", tmp_path / "away"
    docs.mkdir()
    stop = Event()
    signals = change_signals([docs], stop)
    next(signals)
    docs.rename(away)
    wait_for_change(signals)
    assert next(signals) in (True, False), "it goes on while the folder is missing"
    docs.mkdir()
    wait_for_change(signals)
    time.sleep(0.1)
    (docs / "a.txt").write_text("x")
    wait_for_change(signals)
    stop.set()


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[watch\]"):
        next(change_signals([tmp_path], Event()))
