"""A file is the old one or the new one, never a part of it."""

from pathlib import Path

import pytest

from densephrases.atomic_files import replace_file, replacing


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
