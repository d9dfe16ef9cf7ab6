"""PDF, through PDFium itself."""

import gzip
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.readers.pages import pdf
from densephrases.text.readers.pages.pdf import pdf_document
from densephrases.text.readers.pages.pdf_view import phrase_boxes
from tests.text.readers.pages.made_up_pdf import make_pdf

pytest.importorskip("pypdfium2")

PASSWORD = Path(__file__).parent / "password.pdf"
WORDS = ["", "Owls", "Larks", "Finches", "Terns"]
RECTANGLE = "10 10 100 100 re f "


def written(folder: Path, content: bytes, name: str = "a.pdf") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_title_and_pages(tmp_path: Path) -> None:
    found = pdf_document(written(tmp_path, make_pdf("Ann met Bob.", "Then they left.", title="A report")))
    assert found[:2] == ("A report", "Ann met Bob.\n\nThen they left.")
    assert found.layout.pages == (0, 14)
    assert [found.layout.page(found.text.index(word)) for word in ("Ann", "Bob", "Then", "left")] == [1, 1, 2, 2]


def test_compressed_and_without_title(tmp_path: Path) -> None:
    found = pdf_document(written(tmp_path, gzip.compress(make_pdf("Ann met Bob.")), "a.pdf.gz"))
    assert found[:2] == ("", "Ann met Bob.")


def test_words_stay_apart_and_broken_ones_are_joined(tmp_path: Path) -> None:
    page = [
        (10.0, 350.0, 12.0, "What you"),
        (66.0, 350.0, 12.0, "want is a build-"),
        (10.0, 336.0, 12.0, "ing on a well-"),
        (10.0, 322.0, 12.0, "known square."),
    ]
    found = pdf_document(written(tmp_path, make_pdf(page)))
    assert found.text.split() == ["What", "you", "want", "is", "a", "building", "on", "a", "well-known", "square."]


def test_paragraphs_headings_and_a_sentence_over_two_pages(tmp_path: Path) -> None:
    cover = [(10.0, 200.0, 30.0, "The book"), (10.0, 100.0, 20.0, "Ann Bell")]
    first = [
        (10.0, 380.0, 20.0, "Memory"),
        (10.0, 350.0, 12.0, "One line of it"),
        (10.0, 336.0, 12.0, "and another."),
        (10.0, 300.0, 12.0, "A second paragraph that"),
    ]
    second = [(10.0, 380.0, 12.0, "goes on here.")]
    found = pdf_document(written(tmp_path, make_pdf(cover, first, second)))
    assert found.text == (
        "The book\n\nAnn Bell\n\nMemory\n\nOne line of it\nand another.\n\nA second paragraph that\ngoes on here."
    )
    assert [(section.name, section.level) for section in found.layout.sections] == [("Memory", 2)]
    assert found.layout.page(found.text.index("goes")) == 3


def test_running_heads_page_numbers_and_contents_go(tmp_path: Path) -> None:
    pages = [
        [
            (10.0, 390.0, 9.0, f"Chapter 3: Birds {number}"),
            (10.0, 350.0, 12.0, f"{WORDS[number]} is told here."),
            (10.0, 320.0, 12.0, f"1.{number} Birds . . . . . . . {number}"),
            (150.0, 10.0, 9.0, f"{number}"),
        ]
        for number in range(1, 5)
    ]
    found = pdf_document(written(tmp_path, make_pdf(*pages)))
    assert found.text == "\n\n".join(f"{WORDS[number]} is told here." for number in range(1, 5))


def test_a_line_of_only_a_year_stays(tmp_path: Path) -> None:
    first = [(10.0, 350.0, 12.0, "He was born in"), (10.0, 336.0, 12.0, "1945")]
    assert "1945" in pdf_document(written(tmp_path, make_pdf(first, "Nothing else."))).text


def test_pages_without_text_begin_where_the_next_does(tmp_path: Path) -> None:
    found = pdf_document(written(tmp_path, make_pdf("", "Second.", "", "Fourth.")))
    assert found.layout.pages == (0, 0, 9, 9)
    assert found.layout.page(0) == 2


@pytest.mark.parametrize("content", [b"no PDF at all", make_pdf("a")[:100], PASSWORD.read_bytes()])
def test_unreadable(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(DataError, match=r"a\.pdf' cannot be read as PDF"):
        pdf_document(written(tmp_path, content))


def test_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingExtraError, match=r"densephrases\[pdf\]"):
        pdf_document(tmp_path / "a.pdf")


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, make_pdf("Ann met Bob."))
    with pytest.raises(DataError, match="has more than 100 B"):
        pdf_document(path, 100)
    monkeypatch.setattr(pdf, "SECONDS", -1.0)
    with pytest.raises(DataError, match="takes more than"):
        pdf_document(path)


class RecognizedLine(NamedTuple):
    text: str
    box: tuple[float, float, float, float]


def recognizer(monkeypatch: pytest.MonkeyPatch, recognize: Any) -> None:
    module = ModuleType("densephrases.text.readers.formats.ocr")
    module.recognize = recognize  # type: ignore[attr-defined]
    package = ModuleType("densephrases.text.readers.formats")
    monkeypatch.setitem(sys.modules, "densephrases.text.readers.formats", package)
    monkeypatch.setitem(sys.modules, "densephrases.text.readers.formats.ocr", module)


def test_scanned_pages_are_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    def recognize(image: Any) -> list[RecognizedLine]:
        seen.append(image.size)
        return [RecognizedLine("A scanned", (10, 10, 90, 30)), RecognizedLine("line.", (10, 34, 60, 54))]

    recognizer(monkeypatch, recognize)
    path = written(tmp_path, make_pdf("", drawn=RECTANGLE))
    found = pdf_document(path)
    assert found.text == "A scanned\nline."
    assert seen == [(1275, 1700)]
    (box,) = phrase_boxes(path, 1, found.text, 10, 14)
    assert (box.top, box.bottom) == (34 / 1700, 54 / 1700)


def test_scans_without_the_extra_name_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def recognize(image: Any) -> None:
        raise MissingExtraError("no OCR")

    recognizer(monkeypatch, recognize)
    with pytest.raises(MissingExtraError, match=r"pictures of pages but no text.*densephrases\[ocr\]"):
        pdf_document(written(tmp_path, make_pdf("", drawn=RECTANGLE)))
    assert pdf_document(written(tmp_path, make_pdf(""))).text == ""  # an empty page is no scan
    assert pdf_document(written(tmp_path, make_pdf("", drawn="1 g " + RECTANGLE))).text == ""  # nor is white on white
