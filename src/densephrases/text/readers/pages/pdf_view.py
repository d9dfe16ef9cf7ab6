"""Pages of a PDF file as pictures, and where a phrase stands on them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from densephrases.errors import DataError
from densephrases.text.readers.limits import MAX_DOCUMENT
from densephrases.text.readers.pages.pdf_file import open_pdf

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage

MOST_PIXELS = 3000  # of either side of a picture
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


def page_image(page: "PdfPage", pixels: int, *, of_width: bool = False) -> "Image":
    """A picture whose width, or longer side, has that many pixels."""
    width, height = (max(side, 1.0) for side in page.get_size())
    scale = min(pixels / (width if of_width else max(width, height)), MOST_PIXELS / max(width, height))
    image: Image = page.render(scale=scale, may_draw_forms=False).to_pil().convert("RGB")
    return image


def phrase_boxes(path: Path, page: int, text: str, start: int, end: int, limit: int = MAX_DOCUMENT) -> list[Box]:
    """Where the characters `start:end` of a page's text stand on it, one box a line; none if they are not there.

    Letters and digits alone are compared, since spaces and hyphens of the text are not those of the file.
    """
    with open_pdf(path, limit) as document:
        found = _page(document, path, page)
        textpage = found.get_textpage()
        letters = [
            (letter, index)
            for index in range(textpage.count_chars())
            for letter in _letters(_character(textpage, index))
        ]
        places = _places("".join(letter for letter, _ in letters), text, start, end)
        if not places:
            return []
        first, last = letters[places.start][1], letters[places.stop - 1][1]
        size = found.get_size()
        return list(_boxes(textpage, first, last - first + 1, size))


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


def _places(page: str, text: str, start: int, end: int) -> range:
    """Where the letters of `text[start:end]` are among those of the page: where most of those around them are, too."""
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
