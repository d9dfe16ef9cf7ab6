"""Lines in images, and the order in which they are read."""

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import MissingExtraError
from densephrases.text.readers.formats import ocr
from densephrases.text.readers.formats.ocr import RecognizedLine, lines_text, reading_order, recognize


def lines(*placed: tuple[str, float, float]) -> list[RecognizedLine]:
    """Texts at left and top, 10 wide for each letter and 20 high."""
    return [RecognizedLine(text, (left, top, left + 10 * len(text), top + 20)) for text, left, top in placed]


TITLE = ("A title over both of the columns of this page", 100, 0)
LEFT = [(f"left column, line {number}", 0, 60 + 30 * number) for number in range(4)]
RIGHT = [(f"right column, line {number}", 400, 65 + 30 * number) for number in range(4)]
TABLE = [
    (cell, 200 * column, 300 + 30 * row) for row in range(3) for column, cell in enumerate(["Ada", "1815", "London"])
]


def test_columns_are_read_one_after_another_and_tables_by_rows() -> None:
    expected = lines(TITLE, *LEFT, *RIGHT, *TABLE)
    for seed in range(20):
        shuffled = random.Random(seed).sample(expected, len(expected))  # noqa: S311
        assert reading_order(shuffled) == expected


def test_text() -> None:
    left, right = "\n".join(text for text, *_ in LEFT), "\n".join(text for text, *_ in RIGHT)
    table = "\n".join(["Ada 1815 London"] * 3)
    assert lines_text(lines(TITLE, *LEFT, *RIGHT, *TABLE)) == "\n\n".join([TITLE[0], left, right, table])
    assert lines_text([]) == ""


NUMBER = st.integers(0, 300)


@given(st.lists(st.tuples(NUMBER, NUMBER, st.integers(1, 50), st.integers(1, 50)), max_size=40))
def test_no_line_is_lost(boxes: list[tuple[int, int, int, int]]) -> None:
    found = [
        RecognizedLine(f"line {number} of some length", (left, top, left + width, top + height))
        for number, (left, top, width, height) in enumerate(boxes)
    ]
    assert sorted(reading_order(found), key=found.index) == found


def test_an_image() -> None:
    pytest.importorskip("rapidocr")
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGBA", (700, 200))  # transparent, and black on black without a background
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(size=32)
    draw.text((30, 30), "The lease ends on", fill="black", font=font)
    draw.text((30, 110), "31 March 2027.", fill="black", font=font)
    first, second = recognize(image)
    assert (first.text, second.text) == ("The lease ends on", "31 March 2027.")
    assert first.box[0] == pytest.approx(30, abs=15)
    assert 20 < first.box[1] < first.box[3] < second.box[1] < second.box[3] < 160
    assert recognize(Image.new("1", (200, 100), 1)) == []


def test_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    ocr._engine.cache_clear()
    with pytest.raises(MissingExtraError, match=r"densephrases\[ocr\]"):
        ocr._engine()
