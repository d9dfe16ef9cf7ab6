"""Rows of tables as sentences, with the header of each column: 'Setting: port; Default: 5432.'"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from densephrases.text.readers.pages.flow import Flow

MOST_COLUMNS = 100
_LONGEST_HEADER = 100  # characters, since it is repeated in each row
_LONGEST_CELL = 1000  # characters of a cell that is not laid out by the table
_LONGEST_NAME = 150  # characters of a first paragraph that names the next
_MOST_GROWTH = 10  # times the text of the cells
_ENDS = (".", "!", "?", "\u2026")


@dataclass(slots=True)
class Cell:
    header: bool
    columns: int = 1
    rows: int = 1
    flow: Flow = field(default_factory=Flow)

    @property
    def text(self) -> str:
        return " ".join(self.flow.text().split())


@dataclass(slots=True)
class Row:
    in_head: bool
    cells: list[Cell] = field(default_factory=list)


@dataclass(slots=True)
class Table:
    rows: list[Row] = field(default_factory=list)
    in_head: bool = False
    lays_out: bool = False  # holds other tables, headings or code: the page is laid out by it

    def sentences(self) -> list[str] | None:
        """One for each row; None if the table lays out parts of the page."""
        grid = None if self.lays_out else _grid(self.rows)
        if grid is None or max(map(len, grid), default=0) < 2:
            return None
        rows = [(row, slots) for row, slots in zip(self.rows, grid, strict=True) if any(slot.text for slot in slots)]
        heads = len(list(takewhile(lambda pair: _is_head(*pair), rows)))
        heads = 0 if heads == len(rows) else heads
        headers = _headers([slots for _, slots in rows[:heads]])
        most = _MOST_GROWTH * sum(len(cell.text) for row in self.rows for cell in row.cells) + 10_000
        sentences: list[str] = []
        for _, slots in rows[heads:]:
            sentences.append(row_sentence(_pairs(slots, headers)))
            most -= len(sentences[-1])
            if most < 0:
                return None
        return sentences

    def join_names(self) -> None:
        """In rows of one cell, such as those of reference tables, a short first paragraph names the next."""
        if not self.lays_out and len(self.rows) > 1 and all(len(row.cells) < 2 for row in self.rows):
            for cell in (cell for row in self.rows for cell in row.cells):
                cell.flow.join_first_block(_LONGEST_NAME)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place of the grid, and whether its cell began there."""

    text: str
    header: bool
    first: bool


def row_sentence(pairs: Sequence[tuple[str, str]]) -> str:
    """The cells of a row that are not empty, each after the name of its column."""
    told = "; ".join(f"{name}: {value}" if name else value for name, value in pairs if value)
    return told if not told or told.endswith(_ENDS) else f"{told}."


def _grid(rows: Sequence[Row]) -> list[list[_Slot]] | None:
    """The cells with those that span columns or rows in each place; None if there are too many columns."""
    grid: list[list[_Slot]] = []
    hanging: dict[int, tuple[int, _Slot]] = {}  # rows left, by column
    for row in rows:
        slots: list[_Slot] = []
        cells = iter(row.cells)
        while True:
            if len(slots) in hanging:
                slots.append(_hung(hanging, len(slots)))
                continue
            cell = next(cells, None)
            if cell is None:
                break
            if len(slots) + cell.columns > MOST_COLUMNS or len(text := cell.text) > _LONGEST_CELL:
                return None
            for column in range(cell.columns):
                if cell.rows > 1:
                    hanging[len(slots)] = cell.rows - 1, _Slot(text, cell.header, first=False)
                slots.append(_Slot(text, cell.header, first=column == 0))
        for column in sorted(hanging):
            if column > len(slots) - 1:
                slots += [_Slot("", header=False, first=False)] * (column - len(slots))
                slots.append(_hung(hanging, column))
        grid.append(slots)
    return grid


def _hung(hanging: dict[int, tuple[int, _Slot]], column: int) -> _Slot:
    left, slot = hanging.pop(column)
    if left > 1:
        hanging[column] = left - 1, slot
    return slot


def _is_head(row: Row, slots: Sequence[_Slot]) -> bool:
    return row.in_head or all(slot.header or not slot.text for slot in slots)


def _headers(grid: Sequence[Sequence[_Slot]]) -> list[str]:
    """The header of each column, from top to bottom, without what spans the whole table."""
    columns = max(map(len, grid), default=0)
    parts: list[list[str]] = [[] for _ in range(columns)]
    for row in grid:
        if len({slot.text for slot in row}) == 1 and len(grid) > 1 and columns > 1:
            continue
        for column, slot in enumerate(row):
            if slot.text and slot.text not in parts[column]:
                parts[column].append(slot.text)
    return [" ".join(each)[:_LONGEST_HEADER].rstrip(": ") for each in parts]


def _pairs(row: Sequence[_Slot], headers: Sequence[str]) -> list[tuple[str, str]]:
    if not headers:
        return list(_unnamed(row))
    return [
        (headers[column] if column < len(headers) else "", slot.text)
        for column, slot in enumerate(row)
        if slot.first or slot.text not in _before(row, column)
    ]


def _before(row: Sequence[_Slot], column: int) -> set[str]:
    return {row[column - 1].text} if column else set()


def _unnamed(row: Sequence[_Slot]) -> Iterator[tuple[str, str]]:
    """Without headers of columns, the first of two cells, or one that is a header, names the next."""
    cells = [
        slot for column, slot in enumerate(row) if slot.text and (slot.first or slot.text not in _before(row, column))
    ]
    number = 0
    while number < len(cells):
        cell = cells[number]
        names = len(cells) == 2 or cell.header
        if names and number + 1 < len(cells) and not cells[number + 1].header:
            yield cell.text.rstrip(": "), cells[number + 1].text
            number += 2
        else:
            yield "", cell.text
            number += 1
