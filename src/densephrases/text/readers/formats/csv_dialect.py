"""The delimiter of a table in a text file, and its first lines to tell it by."""

import csv
import re
from collections import Counter
from io import StringIO
from typing import TextIO

DELIMITERS = ",;\t|"
_SAMPLE = 1 << 16  # characters
_ROWS = 100
_DECLARED = re.compile(r"\"?sep=([,;\t|])\"?\r?\n", re.IGNORECASE)  # as Excel writes and takes it
_OTHER_WIDTH = 0.5  # what a delimiter is worth that makes the first row unlike the others


class PeekedLines:
    """The lines of a file whose beginning has been looked at."""

    def __init__(self, file: TextIO, limit: int) -> None:
        self._file = file
        head = file.read(_SAMPLE)
        self.is_whole = len(head) < _SAMPLE
        declared = _DECLARED.match(head)
        self.declared = declared[1] if declared else ""
        self.head = head[declared.end() :] if declared else head
        self._begin = StringIO(self.head if self.is_whole else self.head + file.readline(limit + 1), newline="")

    def readline(self, size: int) -> str:
        return self._begin.readline(size) or self._file.readline(size)


def detect_delimiter(lines: PeekedLines, usual: str) -> str:
    """The one that divides most rows into the same number of cells, and the first row like them."""
    if lines.declared:
        return lines.declared
    candidates = usual + DELIMITERS.replace(usual, "")
    best = max(candidates, key=lambda delimiter: _regularity(lines, delimiter))
    return best if _regularity(lines, best)[0] else usual


def header_of(lines: PeekedLines, delimiter: str) -> list[str]:
    """The first row that is not empty; none if it is not in order."""
    try:
        rows = csv.reader(StringIO(lines.head, newline=""), delimiter=delimiter, strict=True)
        return next((row for row in rows if row), [])
    except csv.Error:
        return []


def _regularity(lines: PeekedLines, delimiter: str) -> tuple[float, int]:
    """The share of rows that have the usual number of cells, and that number; nothing if that is one."""
    rows = _sample(lines, delimiter)
    widths = Counter(map(len, rows))
    if not widths or max(widths) < 2:
        return 0.0, 0
    usual, count = max(((width, count) for width, count in widths.items() if width > 1), key=lambda each: each[1])
    share = count / len(rows)
    return (share if len(rows[0]) == usual else _OTHER_WIDTH * share), usual


def _sample(lines: PeekedLines, delimiter: str) -> list[list[str]]:
    """Rows that are not empty, without the last one if the sample cuts it."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(StringIO(lines.head, newline=""), delimiter=delimiter):
            if len(rows) > _ROWS:
                break
            if row:
                rows.append(row)
    except csv.Error:
        pass  # what was read before it
    return rows if lines.is_whole or len(rows) < 2 else rows[:-1]
