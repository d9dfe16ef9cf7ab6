"""Word documents, written for the test."""

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document
from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.formats.docx import read_docx


def made() -> Any:
    document = pytest.importorskip("docx").Document()
    document.core_properties.author = ""
    return document


def add_table(document: Any, rows: list[list[str]]) -> Any:
    table = document.add_table(len(rows), len(rows[0]))
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    return table


def add_xml(document: Any, inner: str) -> None:
    """A paragraph with this inside."""
    from docx.oxml import parse_xml

    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    compatible = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    document.element.body.insert(0, parse_xml(f'<w:p xmlns:w="{word}" xmlns:mc="{compatible}">{inner}</w:p>'))


def read(document: Any, folder: Path) -> Document:
    document.save(folder / "a.docx")
    (found,) = read_docx(folder / "a.docx", "a.docx")
    return found


def test_a_document(tmp_path: Path) -> None:
    document = made()
    document.core_properties.author = "A. Berg"
    document.add_heading("The lease", 0)
    document.add_heading("Parties", 1)
    document.add_paragraph("It ends on 31 March\n2027.")
    document.add_paragraph("heating", style="List Bullet")
    document.add_paragraph("water", style="List Number")
    document.add_paragraph("Rooms:")
    table = add_table(document, [["Room", "Size", "Colour"], ["Kitchen", "12 m²", "white"], ["Bath", "6 m²", ""]])
    table.cell(1, 2).merge(table.cell(2, 2))
    document.add_paragraph("Signed in Zürich.")
    assert read(document, tmp_path) == Document(
        "a.docx",
        RECORD_BREAK.join(
            [
                "The lease\n\nParties\n\nIt ends on 31 March\n2027.\n\n- heating\n- water\n\nRooms:\n\n"
                "Room: Kitchen, Size: 12 m², Colour: white.",
                "Room: Bath, Size: 6 m², Colour: white.",
                "Signed in Zürich.",
            ]
        ),
        "The lease",
        {"author": "A. Berg", "modified": "2013-12-23"},
    )


def test_titles(tmp_path: Path) -> None:
    document = made()
    document.add_paragraph("Text.")
    assert read(document, tmp_path).title == "a"
    document.core_properties.title = "Given"
    assert read(document, tmp_path).title == "Given"


def test_tables_without_a_header(tmp_path: Path) -> None:
    document = made()
    add_table(document, [["Tenant", "Anna Berg"], ["Landlord", "The city"]])
    assert read(document, tmp_path).text == "Tenant: Anna Berg, Landlord: The city."
    document = made()
    table = add_table(document, [["Tenant", "Street"], ["Anna Berg", "Main Street"]])
    for cell in table.rows[0].cells:
        cell.paragraphs[0].runs[0].bold = True
    assert read(document, tmp_path).text == "Tenant: Anna Berg, Street: Main Street."


def test_a_frame_and_a_table_in_a_table(tmp_path: Path) -> None:
    document = made()
    frame = document.add_table(1, 1).cell(0, 0)
    frame.text = "Inside a frame."
    inner = frame.add_table(2, 3)
    for number, text in enumerate(["Name", "Age", "City", "Ann", "7", "Bern"]):
        inner.cell(number // 3, number % 3).text = text
    assert read(document, tmp_path).text == RECORD_BREAK.join(["Inside a frame.", "Name: Ann, Age: 7, City: Bern."])


def test_changes_boxes_and_links(tmp_path: Path) -> None:
    document = made()
    run = "<w:r><w:t>{}</w:t></w:r>"
    box = f"<w:txbxContent><w:p>{run.format('In a box.')}</w:p></w:txbxContent>"
    add_xml(
        document,
        run.format("Kept")
        + f"<w:ins>{run.format(' added')}</w:ins><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        + f"<w:hyperlink>{run.format(' linked')}</w:hyperlink><w:r><w:tab/><w:t>end.</w:t></w:r>"
        + f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        + "</mc:AlternateContent></w:r>",
    )
    assert read(document, tmp_path).text == "Kept added linked\tend.\n\nIn a box."


def test_bad_documents(tmp_path: Path) -> None:
    pytest.importorskip("docx")
    path = tmp_path / "a.docx"
    for content in ("<no", "<w:document/>"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("[Content_Types].xml", content)
        with pytest.raises(DataError, match="cannot be read as a Word document"):
            list(read_docx(path, "a"))
    document = made()
    document.add_paragraph("x" * 5000)
    document.save(path)
    with pytest.raises(DataError, match="has more than 5 KB"):
        list(read_docx(path, "a", 5000))


def test_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[office\]"):
        list(read_docx(tmp_path / "a.docx", "a"))
