"""A file is the old one or the new one, never a part of it."""

from pathlib import Path

import pytest

from densephrases import atomic_files
from densephrases.atomic_files import make_folder, replace_file, replacing


def test_replacing_and_making_files(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    replace_file(path, "é")
    assert path.read_bytes() == "é".encode()
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_file(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "config.json"
    replace_file(path, "old")

    def fail() -> None:
        with replacing(path) as new:
            new.write_text("half")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_being_read_is_replaced_a_little_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows."""
    refusals = [PermissionError(13, "used by another process")] * 3
    original = Path.replace

    def refuse(path: Path, target: Path) -> Path:
        if refusals:
            raise refusals.pop()
        return original(path, target)

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(atomic_files, "_ATTEMPTS", 4)
    replace_file(tmp_path / "config.json", "new")
    assert (tmp_path / "config.json").read_text() == "new"
    refusals += [PermissionError(13, "used by another process")] * 4
    with pytest.raises(PermissionError):
        replace_file(tmp_path / "config.json", "newer")
    assert (tmp_path / "config.json").read_text() == "new"


def test_folders_are_made_with_those_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(atomic_files, "sync_folder", synced.append)
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    assert synced == [tmp_path, tmp_path / "a"]
    make_folder(tmp_path / "a")
    assert len(synced) == 2
