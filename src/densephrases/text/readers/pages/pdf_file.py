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
    from pypdfium2 import PdfDocument

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


def _unreadable(path: Path, error: Exception) -> DataError:
    return DataError(f"'{path}' cannot be read as PDF: {first_line(error)}.")
