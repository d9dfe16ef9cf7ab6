"""Lists in files, and counts in sentences."""

from pathlib import Path

import pytest

from densephrases.cli.lines import counted, read_lines
from densephrases.errors import DataError


def test_lines_without_blank_ones(tmp_path: Path) -> None:
    (tmp_path / "ids").write_bytes("\ufeffone \r\n\r\n \ntwo\u2028still two".encode())
    assert read_lines(tmp_path / "ids") == ["one ", "two\u2028still two"]


@pytest.mark.parametrize(("content", "reason"), [(None, "No such file"), (b"\xff", "can't decode byte 0xff")])
def test_a_file_that_cannot_be_read(tmp_path: Path, content: bytes | None, reason: str) -> None:
    if content is not None:
        (tmp_path / "ids").write_bytes(content)
    with pytest.raises(DataError, match=f"ids' cannot be read: .*{reason}"):
        read_lines(tmp_path / "ids")


def test_counts() -> None:
    assert [counted(number, "passage") for number in (0, 1, 1234)] == ["0 passages", "1 passage", "1,234 passages"]
