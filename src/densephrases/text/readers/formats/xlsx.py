"""Excel workbooks: each sheet as a table; needs the extra `office`."""

import re
import warnings
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

from densephrases.errors import DataError, MissingExtraError, first_line
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.files import split_name
from densephrases.text.readers.formats.csv_rows import row_document
from densephrases.text.readers.formats.row_sentences import Table, table_documents
from densephrases.text.readers.formats.zip_limits import open_zip
from densephrases.text.readers.limits import MAX_DOCUMENT, MOST_COLUMNS

_MOST_ROWS = 1_048_576  # of a sheet in Excel; damaged files have row numbers beyond
_MOST_MERGED = 100_000  # ranges
_MOST_CELLS = 10_000_000  # in all of them: a whole sheet that is merged means nothing
_BLOCK = 1 << 20
_ROWS = 500  # read at once
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})\"")
_ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


class _Range(NamedTuple):
    """Merged cells, from 0; the last row and column belong to it."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def cells(self) -> int:
        return (self.bottom - self.top + 1) * (self.right - self.left + 1)


def read_workbook(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document | Skipped]:
    """The visible sheets one after another, read as they are parsed; of formulas the values that Excel has stored.

    A sheet with a column 'text' has a document in each row, as in CSV.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is an Excel workbook, which needs openpyxl; install it with: pip install 'densephrases[office]'"
        ) from error
    with open_zip(path, limit, streamed="xl/worksheets/") as archive:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about extensions of Excel that hold no text
                book = openpyxl.load_workbook(archive.fp, read_only=True, data_only=True, keep_links=False)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            for sheet in sheets:
                table = _table(path, name, sheet.title, alone=len(sheets) == 1, limit=limit)
                yield from _documents(_filled(sheet, _merged(archive, sheet)), table)
        except DataError:
            raise
        except Exception as error:  # a damaged workbook makes openpyxl raise nearly anything
            raise DataError(f"'{path}' cannot be read as an Excel workbook: {first_line(error)}.") from error


def _table(path: Path, name: str, sheet: str, *, alone: bool, limit: int) -> Table:
    stem = split_name(path)[0]
    title = stem if alone else f"{stem}, {sheet}"
    return Table(f"{name}#{sheet}", title, f"{path}, sheet {sheet}", {"sheet": sheet}, limit)


def _documents(rows: Iterator[list[str]], table: Table) -> Iterator[Document | Skipped]:
    first = next(rows, [])
    if "text" not in first:
        yield from table_documents(_chained(first, rows), table)
        return
    columns = [column for column in first if column]
    for number, row in enumerate(rows, start=1):
        cells = {column: cell for column, cell in zip(first, row, strict=False) if column}
        if any(cells.values()):
            yield row_document(dict.fromkeys(columns, "") | cells, f"{table.id}#{number}")


def _chained(first: list[str], rows: Iterator[list[str]]) -> Iterator[list[str]]:
    yield first
    yield from rows


def _filled(sheet: Any, merged: list[_Range]) -> Iterator[list[str]]:
    """The rows of a sheet; each cell of a merged range has the value of its first one."""
    ahead = sorted(merged, reverse=True)
    above: dict[_Range, str] = {}
    for number, row in enumerate(_values(sheet)):
        while ahead and ahead[-1].top == number:
            begun = ahead.pop()
            above[begun] = row[begun.left] if begun.left < len(row) else ""
        for each, value in list(above.items()):
            if each.bottom < number:
                del above[each]
            else:
                _fill(row, each, value)
        if any(row):
            yield row


def _fill(row: list[str], merged: _Range, value: str) -> None:
    right = min(merged.right + 1, MOST_COLUMNS)
    row += [""] * (right - len(row))
    row[merged.left : right] = [value] * (right - merged.left)


def _values(sheet: Any) -> Iterator[list[str]]:
    sheet.reset_dimensions()  # which other programs write wrongly
    rows = islice(sheet.iter_rows(), _MOST_ROWS)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about dates out of range
            block = list(islice(rows, _ROWS))
        yield from ([_shown(cell) for cell in row[:MOST_COLUMNS]] for row in block)
        if not block:
            return


def _shown(cell: Any) -> str:
    match cell.value:
        case None:
            return ""
        case bool(value):
            return str(value).lower()
        case float() | int() as value:
            return _number(value, cell.number_format or "")
        case datetime() as value if value.time() == time():
            return value.date().isoformat()
        case datetime() as value:
            return value.replace(microsecond=0, tzinfo=None).isoformat(" ").removesuffix(":00")
        case date() | time() as value:
            return value.isoformat().removesuffix(":00") if isinstance(value, time) else value.isoformat()
        case value:
            text = str(value)
            return "" if text in _ERRORS else text


def _number(value: float, pattern: str) -> str:
    if pattern.endswith("%"):
        return f"{value * 100:.10g}%"
    return f"{value:.15g}" if abs(value) < 1e15 else str(value)


def _merged(archive: ZipFile, sheet: Any) -> list[_Range]:
    """Merged ranges, which openpyxl leaves out of sheets that it streams. They stand after the cells."""
    found: list[_Range] = []
    rest = b""
    with archive.open(sheet._worksheet_path.removeprefix("/")) as file:
        while block := file.read(_BLOCK):
            content = rest + block
            last = 0
            for match in _MERGED.finditer(content):
                found.append(_range(*match.groups()))
                last = match.end()
            rest = content[max(last, len(content) - 200) :]
            if len(found) > _MOST_MERGED:
                return []
    return found if sum(each.cells for each in found) <= _MOST_CELLS else []


def _range(left: bytes, top: bytes, right: bytes, bottom: bytes) -> _Range:
    return _Range(int(top) - 1, _column(left), int(bottom) - 1, _column(right))


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number - 1
