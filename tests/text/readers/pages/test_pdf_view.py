"""Pages as pictures, and where phrases stand on them."""

from io import BytesIO
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.text.readers.pages.pdf import pdf_document
from densephrases.text.readers.pages.pdf_file import MOST_PIXELS
from densephrases.text.readers.pages.pdf_view import phrase_boxes, render_page
from tests.text.readers.pages.made_up_pdf import make_pdf

pytest.importorskip("pypdfium2")

LINES = [
    (10.0, 350.0, 12.0, "Ann met Bob in the town where Ann was known as a build-"),
    (10.0, 336.0, 12.0, "er of towers."),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "a.pdf"
    made.write_bytes(make_pdf("First page with Ann.", LINES))
    return made


def boxes_of(path: Path, phrase: str, nth: int = 0) -> list[tuple[float, float, float, float]]:
    found = pdf_document(path)
    start, end = found.layout.page_span(2, len(found.text))
    text = found.text[start:end]
    at = -1
    for _ in range(nth + 1):
        at = text.index(phrase, at + 1)
    return [(b.left, b.top, b.right, b.bottom) for b in phrase_boxes(path, 2, text, at, at + len(phrase))]


def test_a_phrase_has_a_box_where_it_stands(path: Path) -> None:
    ((left, top, right, bottom),) = boxes_of(path, "Bob")
    assert 50 / 300 < left < right < 90 / 300
    assert 35 / 400 < top < 1 - 350 / 400 < bottom + 0.01 < 60 / 400


def test_equal_phrases_are_told_apart_by_what_is_around_them(path: Path) -> None:
    first, second = boxes_of(path, "Ann"), boxes_of(path, "Ann", 1)
    assert first[0][0] < 20 / 300 < 100 / 300 < second[0][0]


def test_a_broken_word_has_a_box_on_each_line(path: Path) -> None:
    boxes = boxes_of(path, "builder")
    assert len(boxes) == 2
    assert boxes[0][1] < boxes[1][1]


@pytest.mark.parametrize("text", ["Nobody", "", "...", " "])
def test_what_is_not_there_has_no_box(path: Path, text: str) -> None:
    assert phrase_boxes(path, 2, text, 0, len(text)) == []


@pytest.mark.parametrize(("width", "size"), [(150, (150, 200)), (10_000, (2250, MOST_PIXELS))])
def test_pictures_have_the_width_that_was_asked_for_within_limits(
    path: Path, width: int, size: tuple[int, int]
) -> None:
    from PIL import Image

    assert Image.open(BytesIO(render_page(path, 1, width))).size == size


@pytest.mark.parametrize("page", [0, -1, 3])
def test_pages_that_are_not_there(path: Path, page: int) -> None:
    with pytest.raises(DataError, match=f"has 2 pages; page {page} is none of them"):
        render_page(path, page, 100)
