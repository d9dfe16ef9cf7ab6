"""Workbooks, written for the test."""

import sys
import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped
from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.formats.xlsx import read_workbook


def book(path: Path, *sheets: Sequence[Sequence[Any]], merged: tuple[str, ...] = ()) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.remove(made.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = made.create_sheet(f"S{number}")
        for row in rows:
            sheet.append(row)
        for cells in merged:
            sheet.merge_cells(cells)
    made.save(path)
    return path


def texts(items: list[Document | Skipped]) -> list[list[str]]:
    return [item.text.split(RECORD_BREAK) for item in items if isinstance(item, Document)]


def test_values(tmp_path: Path) -> None:
    rows: list[Sequence[Any]] = [
        ["Name", "Born", "Hired", "Starts", "Share", "Paid", "Sum"],
        ["Ann  Lee\nJr", date(1990, 2, 1), datetime(2024, 5, 3, 14, 30), time(9, 0), 0.5, True, 1234567],
        ["Zoë", None, None, None, 0.1, False, "#N/A"],
    ]
    (document,) = read_workbook(book(tmp_path / "a.xlsx", rows), "a.xlsx")
    assert document == Document(
        "a.xlsx#S1",
        RECORD_BREAK.join(
            [
                "Name: Ann Lee Jr, Born: 1990-02-01, Hired: 2024-05-03 14:30, Starts: 09:00, Share: 0.5, Paid: true, "
                "Sum: 1234567.",
                "Name: Zoë, Share: 0.1, Paid: false.",
            ]
        ),
        "a",
        {"sheet": "S1"},
    )


def test_percentages(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = book(tmp_path / "a.xlsx", [["Name", "Share"], ["Ann", 0.255]])
    made = openpyxl.load_workbook(path)
    made["S1"]["B2"].number_format = "0.0%"
    made.save(path)
    assert texts(list(read_workbook(path, "a"))) == [["Name: Ann, Share: 25.5%."]]


def test_the_stored_values_of_formulas(tmp_path: Path) -> None:
    """As Excel writes them; openpyxl writes none, so a formula that was never computed has none."""
    path = book(tmp_path / "a.xlsx", [["Name", "Sum"], ["Ann", "=1+1"], ["Bob", "=2+2"]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = (
        parts[sheet]
        .replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>")
        .replace(b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>")
        .replace(b"<f>1+1</f><v/>", b"<f>1+1</f><v>2</v>")
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert texts(list(read_workbook(path, "a"))) == [["Name: Ann, Sum: 2.", "Name: Bob."]]


def test_merged_cells(tmp_path: Path) -> None:
    rows: list[Sequence[Any]] = [
        ["", "2023", None, "2024", None],
        ["Region", "Q1", "Q2", "Q1", "Q2"],
        ["North", 1, 2, 3, 4],
        [None, 5, 6, 7, 8],
    ]
    path = book(tmp_path / "a.xlsx", rows, merged=("B1:C1", "D1:E1", "A3:A4"))
    assert texts(list(read_workbook(path, "a"))) == [
        [
            "Region: North, 2023 Q1: 1, 2023 Q2: 2, 2024 Q1: 3, 2024 Q2: 4.",
            "Region: North, 2023 Q1: 5, 2023 Q2: 6, 2024 Q1: 7, 2024 Q2: 8.",
        ]
    ]


def test_merged_cells_without_end_are_as_they_are(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", [["Name", "Age"], ["Ann", 7]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            merged = b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576" /></mergeCells>'
            archive.writestr(name, content.replace(b"</sheetData>", merged))
    assert texts(list(read_workbook(path, "a"))) == [["Name: Ann, Age: 7."]]


def test_sheets(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    path = book(tmp_path / "a.xlsx", [["a", "b"], [1, 2]], [["secret", "x"]], [], [["c", "d"], [3, 4]])
    made = openpyxl.load_workbook(path)
    made["S2"].sheet_state = "hidden"
    made.save(path)
    assert [(item.id, item.title) for item in read_workbook(path, "a") if isinstance(item, Document)] == [
        ("a#S1", "a, S1"),
        ("a#S4", "a, S4"),
    ]


def test_a_column_of_texts(tmp_path: Path) -> None:
    rows: list[Sequence[Any]] = [
        ["id", "text", "lang", None],
        ["i", "Hello.", "en", "x"],
        [None, "Bye.", None],
        [None, None, None],
    ]
    assert list(read_workbook(book(tmp_path / "a.xlsx", rows), "a")) == [
        Document("i", "Hello.", "", {"lang": "en"}),
        Document("a#S1#2", "Bye.", "", {"lang": ""}),
    ]


def test_large_sheets_come_in_pieces(tmp_path: Path) -> None:
    rows: list[Sequence[Any]] = [["Name", "Age"], *([f"Ann {number}", number] for number in range(2500))]
    found = [item.id for item in read_workbook(book(tmp_path / "a.xlsx", rows), "a") if isinstance(item, Document)]
    assert found == ["a#S1", "a#S1#1001", "a#S1#2001"]


def test_bad_workbooks(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = book(tmp_path / "a.xlsx", [["a", "b"], ["x" * 3000, 2]])
    with pytest.raises(DataError, match="has more than 1 KB"):
        list(read_workbook(path, "a", 1000))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<no")
    with pytest.raises(DataError, match="cannot be read as an Excel workbook"):
        list(read_workbook(path, "a"))


def test_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[office\]"):
        list(read_workbook(tmp_path / "a.xlsx", "a"))
