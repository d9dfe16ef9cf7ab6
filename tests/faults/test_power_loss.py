"""A short replay of power losses, and that it notices every sync that is left out."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from densephrases import atomic_files
from densephrases.index import commits
from densephrases.index.files import durable

from . import power_loss
from .power_loss import PROMISE, attack

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders are not synced there")


def test_power_losses(tmp_path: Path) -> None:
    outcome = attack(60, 1, tmp_path)
    assert outcome.failures == ()
    assert (outcome.promise, outcome.cases) == (PROMISE, 60)


def without(module: object, is_left_out: Callable[[Path], bool]) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(patch: pytest.MonkeyPatch) -> None:
        original = atomic_files.sync_folder
        patch.setattr(module, "sync_folder", lambda folder: None if is_left_out(folder) else original(folder))

    return plant


def without_files(patch: pytest.MonkeyPatch) -> None:
    original = durable.HashedFile.finish

    def finish(file: durable.HashedFile) -> durable.FileEntry:
        with patch.context() as inner:
            inner.setattr(os, "fsync", lambda number: None)
            return original(file)

    patch.setattr(durable.HashedFile, "finish", finish)


def without_the_new_manifest(patch: pytest.MonkeyPatch) -> None:
    original = atomic_files._sync
    patch.setattr(atomic_files, "_sync", lambda path, flags: None if path.suffix == ".new" else original(path, flags))


@pytest.mark.parametrize(
    ("plant", "cases"),
    [
        (without(commits, lambda folder: folder.name == "segments"), 60),
        (without(commits, lambda folder: folder.name == "deleted"), 150),
        (without(commits, lambda folder: folder.parent.name == "segments"), 60),
        (without(atomic_files, lambda folder: True), 150),
        (without(commits, lambda folder: (folder / "segments" / "holiday").exists()), 300),
        (without_files, 60),
        (without_the_new_manifest, 60),
    ],
    ids=["segments", "deleted", "segment", "manifest folder", "manifest of a killed writer", "files", "manifest"],
)
def test_a_sync_that_is_left_out_is_noticed(
    tmp_path: Path, plant: Callable[[pytest.MonkeyPatch], None], cases: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    monkeypatch.setattr(power_loss, "ENOUGH", 1)
    assert attack(cases, 1, tmp_path).failures
