"""Text of scanned pages, by the extra `ocr`."""

from typing import TYPE_CHECKING

from densephrases.errors import MissingExtraError
from densephrases.text.readers.pages.pdf_file import page_image

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

    from densephrases.text.readers.formats.ocr import RecognizedLine

_PIXELS = 1700  # of the longer side of the picture: 150 dots an inch of A4


def recognized_lines(page: "PdfPage") -> tuple[tuple[int, int], "list[RecognizedLine]"]:
    """Width and height of the picture of a page, and the lines on it; none if the extra is missing."""
    picture = page_image(page, _PIXELS)
    try:
        from densephrases.text.readers.formats.ocr import recognize

        return picture.size, recognize(picture)
    except (ImportError, MissingExtraError):
        return picture.size, []
