"""Delimiters."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.readers.formats.csv_dialect import DELIMITERS, PeekedLines, detect_delimiter, header_of


def peek(text: str) -> PeekedLines:
    return PeekedLines(io.StringIO(text, newline=""), 1000)


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1, 2\t3\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ("sep=|\nx\ny\n", "|"),
        ('"sep=;"\r\na;b', ";"),
        ("Name\nAda\n", ","),
        ("Note\nyes; no; maybe\nfine\n", ";"),
        ("", ","),
        ('a;b\n"one, two\nthree, four";c\n"five, six";d\n', ";"),
    ],
)
def test_delimiters(text: str, delimiter: str) -> None:
    assert detect_delimiter(peek(text), ",") == delimiter


WORD = st.text("abc xyz019'", min_size=1, max_size=8)


@given(st.integers(2, 5).flatmap(lambda n: st.lists(st.lists(WORD, min_size=n, max_size=n), min_size=1)), st.data())
def test_what_was_written_is_read(rows: list[list[str]], data: st.DataObject) -> None:
    delimiter = data.draw(st.sampled_from(DELIMITERS))
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter).writerows(rows)
    assert detect_delimiter(peek(file.getvalue()), ",") == delimiter


@pytest.mark.parametrize("length", [0, 10, 65_535, 65_536, 65_537, 200_000])
def test_all_lines_are_given(length: int) -> None:
    text = "".join(f"line {number}\r\n" for number in range(length // 10 + 1))[: length or None]
    peeked = PeekedLines(io.StringIO(text, newline=""), 1000)
    lines = []
    while line := peeked.readline(1000):
        lines.append(line)
    assert lines == text.splitlines(keepends=True)


def test_a_header_that_is_not_in_order() -> None:
    assert header_of(peek('\n\na,"b, c"\n1,2'), ",") == ["a", "b, c"]
    assert header_of(peek('"a"b,c\n'), ",") == []
