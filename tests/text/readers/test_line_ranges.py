"""Ranges of a file of JSON lines give the documents of the whole file, whatever is in it."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.text.documents import Document
from densephrases.text.readers import line_ranges
from densephrases.text.readers.encodings import HEAD
from densephrases.text.readers.folders.found_files import Places
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.line_ranges import LineRange, cuts
from densephrases.text.readers.read import ReadOptions, read_files

PADDING = " " * 30_000  # so that a file of few lines has several blocks

ODD = ["", "  ", "\x0b", "no JSON", "{", '{"text": "x"}', '{"text": "café"}\r', "null", '{"text": "", "id": 5}']
LINES = st.lists(st.one_of(st.text(max_size=5), st.integers(0, len(ODD) - 1), st.binary(max_size=2)), max_size=12)


def line(drawn: str | int | bytes) -> bytes:
    """A document, a line that is odd, or one with any bytes."""
    if isinstance(drawn, str):
        return json.dumps({"text": drawn + PADDING}, ensure_ascii=not drawn.isalpha()).encode(errors="replace")
    return drawn.replace(b"\n", b" ") * 9_000 if isinstance(drawn, bytes) else ODD[drawn].encode()


def ranges_of(path: Path) -> list[LineRange]:
    found = cuts(path) or []
    return [LineRange(first.offset, last.offset, first.lines) for first, last in pairwise(found)]


def read(path: Path, ranges: list[LineRange | None]) -> tuple[list[Document], list[str], dict[str, int]]:
    """Documents, reasons why others are skipped, and counts."""
    report, skipped = ReadReport(), []
    report.on_skip = lambda each: skipped.append(str(each))
    files = [replace(file, lines=lines) for file in Places.from_paths([path]).files() for lines in ranges]
    documents = list(read_files(files, ReadOptions(max_document=50_000), report))
    return documents, skipped, dict(report.kinds)


def same_in_ranges(content: bytes) -> int:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "many.jsonl"
        path.write_bytes(content)
        ranges = ranges_of(path)
        if ranges:
            assert read(path, [*ranges]) == read(path, [None])
        return len(ranges)


@settings(max_examples=60)
@given(LINES, st.sampled_from([b"", b"\n", b"\n \n"]), st.booleans())
def test_ranges_are_read_as_the_whole_file(lines: list[str | int | bytes], end: bytes, marked: bool) -> None:
    same_in_ranges((b"\xef\xbb\xbf" if marked else b"") + b"\n".join(map(line, lines)) + end)


def lines_of(count: int, text: str = "It rains. ") -> bytes:
    return b"".join(json.dumps({"text": f"{number} {text * 500}"}).encode() + b"\n" for number in range(count))


def test_a_large_file_has_many_ranges() -> None:
    assert same_in_ranges(lines_of(100)) >= 7
    assert same_in_ranges(lines_of(100).rstrip()) >= 7
    assert same_in_ranges(b"\n\n" + lines_of(100).replace(b"}\n", b"}\n\n\n") + b"\n" * 100) >= 7


def test_a_mark_on_a_line_of_its_own() -> None:
    rest = b"\n" + b" " * 70_000 + lines_of(30)
    assert same_in_ranges(b"\xef\xbb\xbf\n" + b"x" * 10 + b"\n" + rest.lstrip()) >= 2
    assert same_in_ranges(b"\xef\xbb\xbf\n" + b" " * 20_000 + b"y" * 60_000 + b"\n" + lines_of(30)) >= 2


def test_accents_that_come_late_and_broken_characters() -> None:
    assert same_in_ranges(lines_of(30) + '{"text": "Zürich"}\n'.encode() * 20_000) >= 5
    assert (
        same_in_ranges('{"text": "Zürich, '.encode() + b'caf\xe9"}\n' + '{"text": "Zürich"}\n'.encode() * 20_000) >= 5
    )


@pytest.mark.parametrize(
    "content",
    [
        lines_of(30) + '{"text": "Zürich"}\n'.encode("cp1252") * 9_000,
        lines_of(30).decode().encode("utf-16"),
        lines_of(30) + b"\n" * 2 * HEAD + lines_of(30),
        b"\0" * HEAD,
        b"",
    ],
    ids=["windows", "utf-16", "blank", "binary", "empty"],
)
def test_what_is_read_whole(content: bytes) -> None:
    assert same_in_ranges(content) == 0


def test_other_formats_are_read_whole(tmp_path: Path) -> None:
    for name in ("a.json", "a.csv", "a.txt", "a.jsonl.gz"):
        (tmp_path / name).write_bytes(lines_of(30))
        assert line_ranges.cuts(tmp_path / name) is None
