"""Pages of a PDF file as pictures, and where a phrase stands on them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from densephrases.errors import DataError
from densephrases.text.readers.limits import MAX_DOCUMENT
from densephrases.text.readers.pages.pdf_file import MOST_PIXELS, open_pdf, page_image
from densephrases.text.readers.pages.pdf_scan import recognized_lines

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

_LEAST = 4  # letters that are looked for: fewer are found anywhere
_CONTEXT = 80  # letters on each side by which a phrase is told from others of the same words


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of a page in shares of its width and height, from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


def render_page(path: Path, page: int, width: int, limit: int = MAX_DOCUMENT) -> bytes:
    """A page, from 1, as PNG of that width; less if the page would get higher than 3,000 pixels."""
    with open_pdf(path, limit) as document:
        picture = page_image(_page(document, path, page), min(width, MOST_PIXELS), of_width=True)
    file = BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def phrase_boxes(path: Path, page: int, text: str, start: int, end: int, limit: int = MAX_DOCUMENT) -> list[Box]:
    """Where the characters `start:end` of a page's text stand on it, one box a line; none if they are not there.

    Letters and digits alone are compared, since spaces and hyphens of the text are not those of the file.
    """
    with open_pdf(path, limit) as document:
        found = _page(document, path, page)
        textpage = found.get_textpage()
        letters = _letters_of(_character(textpage, index) for index in range(textpage.count_chars()))
        if not letters:
            return _boxes_of_scan(found, text, start, end)
        places = _places(letters, text, start, end)
        if not places:
            return []
        first, last = letters[places.start][1], letters[places.stop - 1][1]
        return list(_boxes(textpage, first, last - first + 1, found.get_size()))


def _boxes_of_scan(page: "PdfPage", text: str, start: int, end: int) -> list[Box]:
    """Those of the recognised lines that the characters are in."""
    size, lines = recognized_lines(page)
    letters = _letters_of(line.text for line in lines)
    touched = sorted({letters[place][1] for place in _places(letters, text, start, end)})
    return [_share(lines[number].box, size) for number in touched]


def _share(box: tuple[float, float, float, float], size: tuple[float, float]) -> Box:
    (left, top, right, bottom), (width, height) = box, size
    return Box(left / width, top / height, right / width, bottom / height)


def _letters_of(parts: Iterable[str]) -> list[tuple[str, int]]:
    """The letters and digits of texts, each with the number of its text."""
    return [(letter, number) for number, part in enumerate(parts) for letter in _letters(part)]


def _page(document: "Sequence[PdfPage]", path: Path, page: int) -> "PdfPage":
    if not 1 <= page <= len(document):
        raise DataError(f"'{path}' has {len(document)} pages; page {page} is none of them.")
    return document[page - 1]


def _character(textpage: object, index: int) -> str:
    from pypdfium2 import raw

    code = raw.FPDFText_GetUnicode(textpage, index)
    return chr(code) if code < 0x110000 else ""


def _letters(text: str) -> Iterator[str]:
    for letter in text.casefold():
        if letter.isalnum():
            yield letter


def _places(letters: Sequence[tuple[str, int]], text: str, start: int, end: int) -> range:
    """Where the letters of `text[start:end]` are among those of the page: where most of those around them are, too."""
    page = "".join(letter for letter, _ in letters)
    before, phrase, after = ("".join(_letters(part)) for part in (text[:start], text[start:end], text[end:]))
    if not phrase:
        return range(0)
    for around in (_CONTEXT, _CONTEXT // 4, 4, 0):
        left, right = before[-around:] if around else "", after[:around]
        wanted = left + phrase + right
        at = page.find(wanted)
        if at >= 0 and len(wanted) >= _LEAST and (around or page.count(wanted) == 1):
            return range(at + len(left), at + len(left) + len(phrase))
    return range(0)


def _boxes(textpage: object, first: int, count: int, size: tuple[float, float]) -> Iterator[Box]:
    width, height = size
    rectangles = textpage.count_rects(first, count)  # type: ignore[attr-defined]
    for number in range(rectangles):
        left, bottom, right, top = textpage.get_rect(number)  # type: ignore[attr-defined]
        if right > left and top > bottom:
            yield Box(left / width, 1 - top / height, right / width, 1 - bottom / height)
