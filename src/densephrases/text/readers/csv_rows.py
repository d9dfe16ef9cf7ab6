"""Documents as rows of CSV or TSV."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.files import OnOpen, open_text, split_name

if TYPE_CHECKING:
    from _csv import Reader

_LONGEST = 1 << 26  # characters of a field, so that an unclosed quote does not swallow the whole file


def read_table(path: Path, name: str, on_open: OnOpen | None = None) -> Iterator[Document | Skipped]:
    """One document per row. The header has a column 'text' and optionally 'id' and 'title'.

    All other columns go to the metadata. A missing id becomes the row number: 'name#3'.
    """
    csv.field_size_limit(_LONGEST)  # global to the library; its default is too short for an article
    delimiter = "\t" if split_name(path)[1] == ".tsv" else ","
    with open_text(path, on_open) as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        header = next(_rows(rows, path), None)
        if header is None:
            return
        columns = _columns(header, path)
        for number, row in enumerate(_rows(rows, path), start=1):
            if isinstance(row, Skipped):
                yield row
            elif len(row) != len(columns):
                yield Skipped(
                    f"{path}, line {rows.line_num}", f"has {len(row)} columns, but the header has {len(columns)}."
                )
            else:
                yield _document(dict(zip(columns, row, strict=True)), f"{name}#{number}")


def _rows(rows: "Reader", path: Path) -> Iterator[list[str] | Skipped]:
    """Rows that are not empty; after an invalid one, reading continues with the next line."""
    while True:
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
    if "text" not in header:
        raise DataError(f"'{path}' has the columns {', '.join(header)}; expected a header with a column 'text'.")
    if len(set(header)) < len(header):
        raise DataError(f"'{path}' has two columns of the same name: {', '.join(header)}.")
    return header


def _document(row: dict[str, str], name: str) -> Document:
    return Document(row.pop("id", "") or name, row.pop("text"), row.pop("title", ""), row)
