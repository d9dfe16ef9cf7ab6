"""PDF files opened with PDFium; needs the extra `pdf`."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from densephrases.errors import DataError, DensePhrasesError, MissingExtraError, first_line
from densephrases.text.readers.files import open_file, read_whole
from densephrases.text.readers.limits import MAX_DOCUMENT

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfDocument, PdfPage

MOST_PIXELS = 3000  # of either side of a picture

_ONE_AT_A_TIME = RLock()  # PDFium must not be called by two threads at once


@contextmanager
def open_pdf(path: Path, limit: int = MAX_DOCUMENT) -> Iterator["PdfDocument"]:
    """A file of at most `limit` bytes. Raises DataError for what PDFium cannot read."""
    try:
        import pypdfium2
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is PDF, which needs pypdfium2; install it with: pip install 'densephrases[pdf]'"
        ) from error
    with open_file(path) as file:
        content = BytesIO(read_whole(file, path, limit)).getvalue()
    with _ONE_AT_A_TIME:
        try:
            document = pypdfium2.PdfDocument(content)
        except Exception as error:
            raise _unreadable(path, error) from error
        try:
            yield document
        except (DensePhrasesError, OSError):
            raise
        except Exception as error:  # of a damaged page
            raise _unreadable(path, error) from error
        finally:
            document.close()


def page_image(page: "PdfPage", pixels: int, *, of_width: bool = False) -> "Image":
    """A picture whose width, or longer side, has that many pixels."""
    width, height = (max(side, 1.0) for side in page.get_size())
    scale = min(pixels / (width if of_width else max(width, height)), MOST_PIXELS / max(width, height))
    image: Image = page.render(scale=scale, may_draw_forms=False).to_pil().convert("RGB")
    return image


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"'{path}' cannot be read as PDF: {first_line(error)}.")
