"""Presentations, written for the test."""

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document
from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.formats.pptx import read_pptx


def made() -> Any:
    presentation = pytest.importorskip("pptx").Presentation()
    presentation.core_properties.author = "A. Berg"
    presentation.core_properties.title = "PowerPoint Presentation"
    return presentation


def read(presentation: Any, folder: Path) -> Document:
    presentation.save(folder / "a.pptx")
    (found,) = read_pptx(folder / "a.pptx", "a.pptx")
    return found


def test_slides(tmp_path: Path) -> None:
    presentation = made()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Results"
    slide.placeholders[1].text = "Sales rose by 12%\nCosts\vfell"
    slide.notes_slide.notes_text_frame.text = "Mention the plant in Lyon."
    presentation.slides.add_slide(presentation.slide_layouts[6])
    staff = presentation.slides.add_slide(presentation.slide_layouts[5])
    staff.shapes.title.text = "Staff"
    table = staff.shapes.add_table(2, 2, 0, 10**6, 10**6, 10**6).table
    for number, text in enumerate(["Office", "Heads", "Lyon", "42"]):
        table.cell(number // 2, number % 2).text = text
    box = staff.shapes.add_group_shape().shapes.add_textbox(0, 0, 10**6, 10**6)
    box.text_frame.text = "In a group."
    found = read(presentation, tmp_path)
    assert (found.id, found.title, found.metadata["author"]) == ("a.pptx", "Results", "A. Berg")
    assert found.text == RECORD_BREAK.join(
        [
            "Results\n\n- Sales rose by 12%\n- Costs\nfell\n\nMention the plant in Lyon.",
            "Staff\n\nIn a group.",
            "Office: Lyon, Heads: 42.",
        ]
    )


def test_a_chart(tmp_path: Path) -> None:
    presentation = made()
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Q1", "Q2"]
    data.add_series("North", (1.5, None))
    data.add_series("South", (3, 4))
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 10**6, 10**6, data)
    assert read(presentation, tmp_path).text == RECORD_BREAK.join(["Q1, North: 1.5, South: 3.", "Q2, South: 4."])


def test_bad_presentations(tmp_path: Path) -> None:
    pytest.importorskip("pptx")
    path = tmp_path / "a.pptx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<no")
    with pytest.raises(DataError, match="cannot be read as a presentation"):
        list(read_pptx(path, "a"))


def test_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pptx", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[office\]"):
        list(read_pptx(tmp_path / "a.pptx", "a"))
