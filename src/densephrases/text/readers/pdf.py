"""Text of PDF files; needs the extra `pdf`."""

from io import BytesIO
from pathlib import Path

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.readers.files import open_file


def pdf_text(path: Path) -> tuple[str, str]:
    """Title and text, pages separated by a blank line."""
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is PDF, which needs pypdf; install it with: pip install 'densephrases[pdf]'"
        ) from error
    with open_file(path) as file:
        content = BytesIO(file.read())
    try:
        reader = pypdf.PdfReader(content)
        text = "\n\n".join(page.extract_text() for page in reader.pages)
        title = (reader.metadata and reader.metadata.title) or ""
    except Exception as error:  # a damaged PDF makes pypdf raise nearly anything
        raise DataError(f"'{path}' cannot be read as PDF: {error}.") from error
    return _whole_characters(title), _whole_characters(text)


def _whole_characters(text: str) -> str:
    """Join halves of surrogate pairs, which fonts may map to, and replace lone ones."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
