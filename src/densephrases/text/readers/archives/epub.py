"""EPUB books: the chapters in the order in which they are read."""

import posixpath
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, fromstring
from zipfile import ZipFile

from densephrases.errors import DataError
from densephrases.text.documents import Document
from densephrases.text.readers.archives.page_text import page_text
from densephrases.text.readers.files import split_name
from densephrases.text.readers.formats.zip_limits import open_zip
from densephrases.text.readers.limits import MAX_DOCUMENT
from densephrases.text.readers.pages.extracted import joined

_PAGES = ("application/xhtml+xml", "text/html")
_METADATA = {"creator": "author", "language": "language", "date": "date", "publisher": "publisher"}


def read_epub(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document]:
    """One document: the texts of the chapters, separated by blank lines."""
    with open_zip(path, limit) as archive:
        try:
            place = _package_place(archive, path)
            package = _parsed(archive.read(place), path)
            chapters = [page_text(archive.read(page), path) for page in _reading_order(package, place)]
        except (KeyError, ParseError) as error:
            raise DataError(f"'{path}' cannot be read as an EPUB book: {error}.") from error
    title, metadata = _described(package)
    text, layout = joined(chapters)
    yield Document(name, text, title or split_name(path)[0], metadata, layout)


def _parsed(content: bytes, path: Path) -> Element:
    if b"<!ENTITY" in content:
        raise DataError(f"'{path}' defines entities, which no EPUB book does.")
    return fromstring(content)  # noqa: S314 - entities were refused


def _package_place(archive: ZipFile, path: Path) -> str:
    container = _parsed(archive.read("META-INF/container.xml"), path)
    place = next((each.get("full-path") for each in container.iter() if _name(each) == "rootfile"), None)
    if not place:
        raise DataError(f"'{path}' is not an EPUB book: its container names no package.")
    return place


def _reading_order(package: Element, place: str) -> Iterator[str]:
    """The pages of the spine, without tables of contents."""
    items = {each.get("id"): each for each in package.iter() if _name(each) == "item"}
    folder = posixpath.dirname(place)
    for reference in (each for each in package.iter() if _name(each) == "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES or "nav" in (item.get("properties") or "").split():
            continue
        yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or "")))


def _described(package: Element) -> tuple[str, dict[str, str]]:
    title, found = "", dict[str, list[str]]()
    for element in package.iter():
        value = " ".join((element.text or "").split())
        if _name(element) == "title":
            title = title or value
        elif _name(element) in _METADATA and value:
            found.setdefault(_METADATA[_name(element)], []).append(value)
    return title, {key: ", ".join(dict.fromkeys(values)) for key, values in found.items()}


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]
