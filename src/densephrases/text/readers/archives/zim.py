"""ZIM archives, as Kiwix has them: each web page a document; needs the extra `zim`, which is under the GPL."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from densephrases.errors import DataError, MissingExtraError, first_line
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.archives.page_text import page_text
from densephrases.text.readers.files import is_compressed
from densephrases.text.readers.limits import MAX_DOCUMENT, too_large

_PAGES = ("text/html", "application/xhtml+xml")


def read_zim(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document | Skipped]:
    """Ids are the paths of the pages below the name of the file; redirects and images are left out."""
    try:
        from libzim.reader import Archive
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is a ZIM archive, which needs libzim; install it with: pip install 'densephrases[zim]'"
        ) from error
    if is_compressed(path):
        raise DataError(f"'{path}' is compressed twice; decompress it first.")
    try:
        archive = Archive(path)
        count = archive.all_entry_count
    except Exception as error:  # what its C++ raises
        raise DataError(f"'{path}' cannot be read as a ZIM archive: {first_line(error)}.") from error
    for number in range(count):
        yield from _documents(archive, number, path, name, limit)


def _documents(archive: Any, number: int, path: Path, name: str, limit: int) -> Iterator[Document | Skipped]:
    place = f"{path}, entry {number}"
    try:
        entry = archive._get_entry_by_id(number)
        if entry.is_redirect:
            return
        item = entry.get_item()
        if item.mimetype.partition(";")[0] not in _PAGES:
            return
        place = f"{path}, page {entry.path}"
        if item.size > limit:
            yield Skipped(place, f"{too_large(limit)}.")
            return
        page = page_text(bytes(item.content), path)
        yield Document(f"{name}#{entry.path}", page.text, entry.title or page.title, layout=page.layout)
    except DataError as error:
        yield Skipped(place, str(error).removeprefix(f"'{path}' "))
    except Exception as error:  # what its C++ raises for a damaged cluster
        yield Skipped(place, f"cannot be read: {first_line(error)}.")
