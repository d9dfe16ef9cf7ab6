"""Text of PDF files; needs the extra `pdf`."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from densephrases.errors import DataError, MissingExtraError, first_line
from densephrases.text.readers.files import open_file, read_whole
from densephrases.text.readers.limits import MAX_DOCUMENT, too_large

if TYPE_CHECKING:
    from pypdf import PdfReader

SECONDS = 60.0  # after which no further page is begun


def pdf_text(path: Path, limit: int = MAX_DOCUMENT) -> tuple[str, str]:
    """Title and text, pages separated by a blank line. The file and its text may each have `limit` bytes.

    pypdf itself bounds what a stream may expand to; a file whose pages take longer than a minute is refused.
    """
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is PDF, which needs pypdf; install it with: pip install 'densephrases[pdf]'"
        ) from error
    with open_file(path) as file:
        content = BytesIO(read_whole(file, path, limit))
    try:
        reader = pypdf.PdfReader(content)
        text = "\n\n".join(_pages(reader, path, limit))
        title = str((reader.metadata and reader.metadata.title) or "")
    except DataError:
        raise
    except Exception as error:  # a damaged PDF makes pypdf raise nearly anything
        raise DataError(f"'{path}' cannot be read as PDF: {first_line(error)}.") from error
    return _whole_characters(title), _whole_characters(text)


def _pages(reader: "PdfReader", path: Path, limit: int) -> Iterator[str]:
    start, size = monotonic(), 0
    for page in reader.pages:
        text = page.extract_text()
        size += len(text)
        if size > limit:
            raise DataError(f"'{path}' {too_large(limit)}.")
        if monotonic() - start > SECONDS:
            raise DataError(f"'{path}' takes more than {SECONDS:.0f} seconds to read.")
        yield text


def _whole_characters(text: str) -> str:
    """Join halves of surrogate pairs, which fonts may map to, and replace lone ones."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
