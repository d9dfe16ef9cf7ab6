"""Who may search and who may change the index."""

from pathlib import Path

import pytest

from densephrases.errors import ConfigError
from densephrases.serve.keys import Keys

from .running import ADMIN, READING


def test_keys(keys: Keys) -> None:
    assert [keys.may_search(key) for key in (READING, ADMIN, READING[:-1], "", None)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert [keys.may_change(key) for key in (ADMIN, READING, "", None)] == [True, False, False, False]
    assert READING not in repr(keys)


def test_without_keys_anyone_may_search_and_no_one_change() -> None:
    assert Keys().may_search(None)
    assert Keys().may_search("anything")
    assert not Keys().may_change("")
    assert not Keys().may_change(None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"# nothing\n\n", "has no key; write one per"),
        (b"short", "fewer than 16 characters"),
        (b"\xff", "be read"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "keys").write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        Keys.read(tmp_path / "keys", None)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none' cannot be read: No such file"):
        Keys.read(tmp_path / "none", None)
