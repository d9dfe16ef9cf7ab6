"""Documents from CSV or TSV, with any delimiter and with or without a header."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.decoded import open_decoded
from densephrases.text.readers.files import OnOpen, split_name
from densephrases.text.readers.formats.csv_dialect import DELIMITERS, PeekedLines, detect_delimiter, header_of
from densephrases.text.readers.formats.row_sentences import Table, table_documents
from densephrases.text.readers.limits import MAX_DOCUMENT, MOST_BLANK, MOST_COLUMNS, MOST_VALUES, too_large

if TYPE_CHECKING:
    from _csv import Reader

_LONGEST = 1 << 26  # characters of a field, so that an unclosed quote does not swallow the whole file
_LONGEST_SHOWN = 300  # characters of a header in a message


def read_table(
    path: Path, name: str, on_open: OnOpen | None = None, limit: int = MAX_DOCUMENT
) -> Iterator[Document | Skipped]:
    """One document per row if there is a column 'text', else rows as sentences, a thousand in a document.

    With a column 'text' the header may have 'id' and 'title', and all other columns go to the metadata. A missing id
    becomes the row number: 'name#3'.
    """
    csv.field_size_limit(_LONGEST)  # global to the library; its default is too short for an article
    stem, suffix = split_name(path)
    usual = "\t" if suffix in (".tsv", ".tab") else ","
    with open_decoded(path, on_open) as file:
        peeked = PeekedLines(file, limit)
        delimiter = _delimiter_of_texts(peeked, usual)
        if delimiter:
            yield from _read_texts(_Lines(peeked, path, delimiter, limit), path, name)
        else:
            lines = _Lines(peeked, path, detect_delimiter(peeked, usual), limit)
            yield from table_documents(_read_rows(lines, path), Table(name, stem, str(path), {}, limit))


def _delimiter_of_texts(lines: PeekedLines, usual: str) -> str:
    """The delimiter with which the header has a column 'text', or nothing."""
    candidates = dict.fromkeys([lines.declared or usual, usual, *DELIMITERS])
    return next((delimiter for delimiter in candidates if "text" in header_of(lines, delimiter)), "")


def _read_texts(lines: "_Lines", path: Path, name: str) -> Iterator[Document | Skipped]:
    rows = csv.reader(lines, delimiter=lines.delimiter, strict=True)
    columns = _columns(next(_rows(rows, path, lines)), path)
    for number, row in enumerate(_rows(rows, path, lines), start=1):
        if isinstance(row, Skipped):
            yield row
        elif len(row) != len(columns):
            yield Skipped(
                f"{path}, line {rows.line_num}", f"has {len(row)} columns, but the header has {len(columns)}."
            )
        else:
            yield row_document(dict(zip(columns, row, strict=True)), f"{name}#{number}")


def _read_rows(lines: "_Lines", path: Path) -> Iterator[list[str] | Skipped]:
    for row in _rows(csv.reader(lines, delimiter=lines.delimiter), path, lines):
        if not isinstance(row, Skipped) and len(row) > MOST_COLUMNS:
            raise DataError(f"'{path}' has {len(row):,} columns; expected at most {MOST_COLUMNS:,}.")
        yield row


class _Lines:
    """The lines of a table. A row that gets too long ends the file: where the next begins is unknown in quotes."""

    def __init__(self, file: PeekedLines, path: Path, delimiter: str, limit: int) -> None:
        self._file, self._path, self.delimiter, self._limit = file, path, delimiter, limit
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
        self._delimiters += line.count(self.delimiter)
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
    if len(set(header)) < len(header):
        raise DataError(f"'{path}' has two columns of the same name: {_named(header)}.")
    return header


def _named(header: list[str]) -> str:
    return ", ".join(header)[:_LONGEST_SHOWN]


def row_document(row: dict[str, str], name: str) -> Document:
    return Document(row.pop("id", "") or name, row.pop("text"), row.pop("title", ""), row)
