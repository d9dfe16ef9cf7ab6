"""Where a table's header is, if it has one, told by its first rows."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

SAMPLE = 50  # rows by which a header is told
_LONGEST_NAME = 100  # characters
_MOSTLY_FILLED = 0.6  # of the cells that a row of this table has
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DIGITS = re.compile(r"[\d.,]*\d")
_NUMBER = r"[+-]?[\d.,' \u00a0\u202f]*\d(?:[eE][+-]?\d+)?"
_VALUE = re.compile(
    rf"(?:[$€£¥]\s?)?{_NUMBER}\s?[%€$£¥]?"  # also dates with dots
    r"|\d{1,4}[-/]\d{1,2}[-/]\d{1,4}(?:[T ].*)?"
    r"|\d{1,2}:\d\d(?::\d\d)?"
    r"|\S+@\S+\.\S+|https?://.*|(?i:true|false|yes|no)"
)


@dataclass(frozen=True, slots=True)
class Header:
    """Column names, none if the table has no header; `above` are lines over it, `end` the rows that are no data."""

    names: tuple[str, ...]
    above: tuple[str, ...]
    end: int


def find_header(sample: Sequence[Sequence[str]]) -> Header:
    first = _first_whole_row(sample)
    above = tuple(" ".join(filter(None, row)) for row in sample[:first] if any(row))
    below = sample[first + 1 :]
    if not below:
        return Header((), above, first)
    if two := _two_levels(sample[first], below):
        return Header(two, above, first + 2)
    if _is_header(sample[first], below):
        return Header(tuple(sample[first]), above, first + 1)
    return Header((), above, first)


def _first_whole_row(sample: Sequence[Sequence[str]]) -> int:
    """The first row that is as wide as most are: a title, a date and blank rows may stand above a table."""
    filled = [[place for place, cell in enumerate(row) if cell] for row in sample]
    usual = Counter(len(places) for places in filled if len(places) > 1).most_common(1)
    cells = usual[0][0] if usual else 1
    least = min(cells - 1, _MOSTLY_FILLED * cells)  # the corner above the names of rows is often empty
    whole = (number for number, places in enumerate(filled) if len(places) > least or _is_behind(places, least))
    return next(whole, 0)


def _is_behind(places: Sequence[int], least: float) -> bool:
    return bool(places) and len(places) >= least and places[0] > 0


def _two_levels(upper: Sequence[str], below: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Names of two rows, where the upper one has cells over several columns: '2023 Q1', '2023 Q2', '2024 Q1'."""
    spans = any(left and left == right for left, right in pairwise(upper))
    if not spans or len(below) < 2:
        return ()
    lower = below[0]
    if any(map(_VALUE.fullmatch, lower)):
        return ()
    names = [f"{a} {b}" if a and b and a != b else a or b for a, b in zip(upper, lower, strict=False)]
    names += lower[len(upper) :]
    return tuple(names) if _is_header(names, below[1:]) else ()


def _is_header(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    names = [name for name in row if name]
    if not names or any(len(name) > _LONGEST_NAME for name in names):
        return False
    if any(map(_VALUE.fullmatch, names)) and not _is_header_of_years(row, below):
        return False
    columns = list(_columns(row, below))
    if any(name in column or _is_alike(name, column) for name, column in columns):
        return False
    return len(set(names)) == len(names) or has_values(below)


def has_values(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a column holds nothing but numbers, dates and the like, so that words above it are a header."""
    columns = ([row[place] for row in rows if place < len(row)] for place in range(max(map(len, rows), default=0)))
    return any(any(column) and all(map(_VALUE.fullmatch, filter(None, column))) for column in columns)


def _is_alike(name: str, column: Sequence[str]) -> bool:
    """As '950 euros' above '1900 euros'."""
    shape = _DIGITS.sub("0", name)
    return shape != name and not _VALUE.fullmatch(name) and all(_DIGITS.sub("0", cell) == shape for cell in column)


def _columns(row: Sequence[str], below: Sequence[Sequence[str]]) -> list[tuple[str, list[str]]]:
    """Each name with the cells below it, without those that have no name or no cells."""
    cells = [[other[place] for other in below if place < len(other) and other[place]] for place in range(len(row))]
    return [(name, column) for name, column in zip(row, cells, strict=True) if name and column]


def _is_header_of_years(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    values = [name for name in row if _VALUE.fullmatch(name)]
    if not all(map(_YEAR.fullmatch, values)) or len(set(values)) < len(values):
        return False
    columns = [column for name, column in _columns(row, below) if name in values]
    return not any(_YEAR.fullmatch(cell) for column in columns for cell in column)
