"""OpenDocument texts, spreadsheets and presentations (.odt, .ods, .odp)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring
from zipfile import ZipFile

from densephrases.errors import DataError
from densephrases.text.documents import Document
from densephrases.text.readers.files import split_name
from densephrases.text.readers.formats.blocks import Block, blocks_text, table_block
from densephrases.text.readers.formats.zip_limits import open_zip, refuse_costly_xml
from densephrases.text.readers.limits import MAX_DOCUMENT

_MOST_REPEATED = 100  # cells or rows that stand for equal ones; sheets end with a million empty ones
_WRITTEN = {"tab": "\t", "line-break": "\n"}
_LEFT_OUT = {"tracked-changes", "annotation", "forms", "sequence-decls", "settings"}
_PARAGRAPHS = ("p", "h")
_MANIFEST = "META-INF/manifest.xml"


def read_opendocument(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document]:
    with open_zip(path, limit) as archive:
        refuse_costly_xml(archive, path)
        if b"encryption-data" in _manifest(archive):
            raise DataError(f"'{path}' is encrypted; save it without a password.")
        try:
            content = _part(archive, "content.xml")
            found = _described(archive)
            text = blocks_text(_blocks(content))
            heading = next((" ".join(_text(each).split()) for each in content.iter() if _name(each) == "h"), "")
        except RecursionError as error:
            raise DataError(f"'{path}' has elements nested too deeply.") from error
        except (KeyError, ValueError, ParseError) as error:
            raise DataError(f"'{path}' cannot be read as OpenDocument: {error}.") from error
    title = found.pop("title", "") or heading or split_name(path)[0]
    yield Document(name, text, title, found)


def _manifest(archive: ZipFile) -> bytes:
    """Names the parts, and how they are encrypted."""
    return archive.read(_MANIFEST) if _MANIFEST in archive.namelist() else b""


def _part(archive: ZipFile, name: str) -> Element:
    return fromstring(archive.read(name))  # noqa: S314 - entities were refused


def _described(archive: ZipFile) -> dict[str, Any]:
    if "meta.xml" not in archive.namelist():
        return {}
    names = {"title": "title", "creator": "author", "date": "modified"}
    elements = [element for element in _part(archive, "meta.xml").iter() if _name(element) in names]
    values = {names[_name(element)]: (element.text or "").strip() for element in elements}
    if "modified" in values:
        values["modified"] = values["modified"][: len("2024-05-03")]
    return {key: value for key, value in values.items() if value}


def _name(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _attribute(element: Element, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _blocks(element: Element, *, in_list: bool = False) -> Iterator[Block]:
    for child in element:
        name = _name(child)
        if name in _PARAGRAPHS:
            yield Block(_text(child).strip(), "item" if in_list and name == "p" else "paragraph")
        elif name == "table":
            marked = any(_name(part) == "table-header-rows" for part in child)
            yield table_block(list(_rows(child)), has_header=marked)
        elif name not in _LEFT_OUT:
            yield from _blocks(child, in_list=in_list or name == "list")


def _text(element: Element) -> str:
    """The characters of a paragraph; white space in XML is a single space, more of it has elements."""
    pieces = [" ".join((element.text or "").split("\n"))]
    for child in element:
        name = _name(child)
        if name == "s":
            pieces.append(" " * min(int(_attribute(child, "c") or 1), _MOST_REPEATED))
        elif name in _WRITTEN:
            pieces.append(_WRITTEN[name])
        elif name not in _LEFT_OUT:
            pieces += [" ", _text(child), " "] if name in (*_PARAGRAPHS, "note") else [_text(child)]
        pieces.append(" ".join((child.tail or "").split("\n")))
    return "".join(pieces)


def _rows(table: Element) -> Iterator[list[str]]:
    for child in table:
        if _name(child) in ("table-row-group", "table-header-rows", "table-rows"):
            yield from _rows(child)
        elif _name(child) == "table-row":
            row = _cells(child)
            for _ in range(_repeated(child, "number-rows-repeated") if any(row) else 1):
                yield row


def _cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if _name(cell) in ("table-cell", "covered-table-cell"):
            text = _attribute(cell, "date-value").removesuffix("T00:00:00") or " ".join(map(_text, cell))
            cells += [text] * _repeated(cell, "number-columns-repeated")
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _repeated(element: Element, name: str) -> int:
    value = _attribute(element, name)
    return min(int(value), _MOST_REPEATED) if value.isdecimal() else 1
