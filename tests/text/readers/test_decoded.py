"""Text files of all encodings as UTF-8."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import DataError
from densephrases.text.readers.decoded import (
    decode,
    is_binary,
    open_decoded,
    open_decoded_lines,
    read_decoded,
    read_undecoded,
)
from densephrases.text.readers.encodings import HEAD

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
TEXT = "Café Zürich \u2013 5 €\r\nÄpfel\rund\nBirnen\n"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_way_of_reading(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode(encoding))
    assert not is_binary(path)
    assert read_decoded(path) == decode(TEXT.encode(encoding)) == TEXT
    assert read_undecoded(path) == TEXT.encode(encoding)
    with open_decoded(path) as text:
        assert text.read() == TEXT
    with open_decoded_lines(path) as lines:
        assert b"".join(lines).decode() == TEXT


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("padding", [HEAD - 1, HEAD, HEAD + 1, 3 * HEAD])
def test_the_first_accent_may_come_late(tmp_path: Path, encoding: str, padding: int) -> None:
    path = tmp_path / "a.txt.gz"
    text = "x" * padding + " Zürich\n" * HEAD
    path.write_bytes(gzip.compress(text.encode(encoding)))
    assert read_decoded(path) == text
    assert decode(text.encode(encoding)) == text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff")))
def test_utf8_is_unchanged(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("text") / "a"
    path.write_bytes(text.encode())
    assert read_decoded(path) == decode(text.encode()) == text


def test_bytes_of_windows_in_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("Zürich ".encode() * HEAD + "Genève".encode("cp1252"))
    assert read_decoded(path) == "Zürich " * HEAD + "Genève"


def test_binary_files_are_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"ab\0c")
    assert is_binary(path)
    for refused in (read_decoded, read_undecoded):
        with pytest.raises(DataError, match="is binary; expected text"):
            refused(path)
    with pytest.raises(DataError, match="is binary; expected text"), open_decoded_lines(path):
        pass


def test_zeros_in_the_middle_do_not_make_a_file_binary(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * HEAD + b"\0 Z\xfcrich")
    assert read_decoded(path) == "x" * HEAD + "\0 Zürich"


def test_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 101)
    for limited in (read_decoded, read_undecoded):
        with pytest.raises(DataError, match="has more than 100 B"):
            limited(path, 100)


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert read_decoded(tmp_path / "a") == ""
