"""Scans and photographs as documents; needs the extra `ocr`."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from densephrases.errors import DataError, MissingExtraError, first_line
from densephrases.text.documents import Document
from densephrases.text.readers.files import open_file, read_whole, split_name
from densephrases.text.readers.limits import MAX_DOCUMENT, too_large

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_PIXELS = 100_000_000  # an A3 page at 600 dots per inch has 70 million
_MOST_PAGES = 2_000


def read_image(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document]:
    """The text that is recognised; the pages of a TIFF are separated by blank lines."""
    try:
        import rapidocr  # noqa: F401
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is an image, which needs rapidocr; install it with: pip install 'densephrases[ocr]'"
        ) from error
    from densephrases.text.readers.formats.ocr import lines_text, recognize

    with open_file(path) as file:
        content = BytesIO(read_whole(file, path, limit))
    pages: list[str] = []
    try:
        with Image.open(content) as image:
            for page in _pages(image, path):
                pages.append(lines_text(recognize(page)))
                if sum(map(len, pages)) > limit:
                    raise DataError(f"'{path}' {too_large(limit)}.")
    except DataError:
        raise
    except Exception as error:  # a damaged image makes Pillow raise nearly anything
        raise DataError(f"'{path}' cannot be read as an image: {first_line(error)}.") from error
    yield Document(name, "\n\n".join(filter(None, pages)), split_name(path)[0])


def _pages(image: "Image", path: Path) -> Iterator["Image"]:
    """Upright, as cameras note it; of animations the first picture."""
    from PIL import ImageOps

    count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
    if count > _MOST_PAGES:
        raise DataError(f"'{path}' has {count:,} pages; expected at most {_MOST_PAGES:,}.")
    for number in range(count):
        image.seek(number)
        if image.width * image.height > _MOST_PIXELS:
            raise DataError(f"'{path}' has {image.width * image.height:,} pixels; expected at most {_MOST_PIXELS:,}.")
        yield ImageOps.exif_transpose(image)
