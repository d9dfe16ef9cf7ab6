"""Documents as rows of CSV or TSV."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.files import OnOpen, open_text, split_name
from densephrases.text.readers.limits import MAX_DOCUMENT, MOST_BLANK, MOST_COLUMNS, MOST_VALUES, too_large

if TYPE_CHECKING:
    from _csv import Reader

_LONGEST = 1 << 26  # characters of a field, so that an unclosed quote does not swallow the whole file
_LONGEST_SHOWN = 300  # characters of a header in a message


def read_table(
    path: Path, name: str, on_open: OnOpen | None = None, limit: int = MAX_DOCUMENT
) -> Iterator[Document | Skipped]:
    """One document per row. The header has a column 'text' and optionally 'id' and 'title'.

    All other columns go to the metadata. A missing id becomes the row number: 'name#3'.
    """
    csv.field_size_limit(_LONGEST)  # global to the library; its default is too short for an article
    delimiter = "\t" if split_name(path)[1] == ".tsv" else ","
    with open_text(path, on_open) as file:
        lines = _Lines(file, path, delimiter, limit)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        header = next(_rows(rows, path, lines), None)
        if header is None:
            return
        columns = _columns(header, path)
        for number, row in enumerate(_rows(rows, path, lines), start=1):
            if isinstance(row, Skipped):
                yield row
            elif len(row) != len(columns):
                yield Skipped(
                    f"{path}, line {rows.line_num}", f"has {len(row)} columns, but the header has {len(columns)}."
                )
            else:
                yield _document(dict(zip(columns, row, strict=True)), f"{name}#{number}")


class _Lines:
    """The lines of a table. A row that gets too long ends the file: where the next begins is unknown in quotes."""

    def __init__(self, file: TextIO, path: Path, delimiter: str, limit: int) -> None:
        self._file, self._path, self._delimiter, self._limit = file, path, delimiter, limit
        self._number = self._blank = 0
        self.begin_row()

    def begin_row(self) -> None:
        self._characters = self._delimiters = self._lines = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._file.readline(self._limit + 1)
        if not line:
            raise StopIteration
        self._number += 1
        self._lines += 1
        self._characters += len(line)
        self._delimiters += line.count(self._delimiter)
        self._blank = 0 if line.strip() else self._blank + 1
        if self._blank > MOST_BLANK:
            raise DataError(f"'{self._path}', line {self._number}, follows {MOST_BLANK:,} blank lines.")
        if self._characters > self._limit:
            raise DataError(f"'{self._path}', line {self._number}, {too_large(self._limit)}.")
        if self._delimiters > MOST_VALUES or self._lines > MOST_VALUES:
            raise DataError(
                f"'{self._path}', line {self._number}, has a row of more than {MOST_VALUES:,} columns or lines."
            )
        return line


def _rows(rows: "Reader", path: Path, lines: _Lines) -> Iterator[list[str] | Skipped]:
    """Rows that are not empty; after an invalid one, reading continues with the next line."""
    while True:
        lines.begin_row()
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield Skipped(f"{path}, line {rows.line_num}", f"is not CSV: {error}.")
        else:
            if row:
                yield row


def _columns(header: list[str] | Skipped, path: Path) -> list[str]:
    if isinstance(header, Skipped):
        raise DataError(str(header))
    if len(header) > MOST_COLUMNS:
        raise DataError(f"'{path}' has {len(header):,} columns; expected at most {MOST_COLUMNS:,}.")
    if "text" not in header:
        raise DataError(f"'{path}' has the columns {_named(header)}; expected a header with a column 'text'.")
    if len(set(header)) < len(header):
        raise DataError(f"'{path}' has two columns of the same name: {_named(header)}.")
    return header


def _named(header: list[str]) -> str:
    return ", ".join(header)[:_LONGEST_SHOWN]


def _document(row: dict[str, str], name: str) -> Document:
    return Document(row.pop("id", "") or name, row.pop("text"), row.pop("title", ""), row)
