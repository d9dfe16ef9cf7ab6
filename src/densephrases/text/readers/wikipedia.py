"""Articles of a Wikipedia dump (pages-articles XML); needs the extra `wiki`.

The XML is read with the standard library: mwxml keeps an empty element per page, so its memory grows with the dump.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from xml.etree import ElementTree

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.files import OnOpen, open_file

if TYPE_CHECKING:
    from collections.abc import Callable

    Prose: TypeAlias = Callable[[str, Collection[str]], str]

_ARTICLE, _FILE, _CATEGORY = "0", "6", "14"  # numbers of namespaces, the same in every language
_NO_ARTICLE = re.compile(r"(lists?|index|outline) of |.*\(disambiguation\)$", re.IGNORECASE)
_REDIRECT = re.compile(r"\s*#redirect\b", re.IGNORECASE)  # old dumps do not mark them in the XML
_DISAMBIGUATION = re.compile(
    r"__DISAMBIG__|\{\{\s*((?:[\w ]+ )?disambiguation|disambiguation page|disambig|disamb|dab|hndis|geodis|numberdis|"
    r"begriffsklärung|homonymie|desambiguación|desambiguação|disambigua|doorverwijspagina|неоднозначность)\s*[|}]",
    re.IGNORECASE,
)


def read_dump(path: Path, on_open: OnOpen | None = None) -> Iterator[Document | Skipped]:
    """The articles in order, one page at a time: its id, title and paragraphs, separated by blank lines.

    Headings, lists, tables, infoboxes, images and references are left out, and so are redirects, disambiguation
    pages, list pages and everything that is not an article.
    """
    prose = _load_prose(path)
    media = {"file", "image", "category"}
    try:
        for element in _elements(path, on_open):
            if _local(element) == "siteinfo":
                media |= _media_names(element)
            elif _local(element) == "page":
                yield from _documents(element, media, prose, path)
    except ElementTree.ParseError as error:
        raise DataError(f"'{path}' is not XML: {error}.") from error


def _load_prose(path: Path) -> "Prose":
    try:
        from densephrases.text.readers.wikitext import prose
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is XML such as Wikipedia's dumps, which need mwparserfromhell; "
            "install it with: pip install 'densephrases[wiki]'"
        ) from error
    return prose


def _elements(path: Path, on_open: OnOpen | None) -> Iterator[ElementTree.Element]:
    """The children of <mediawiki>, each freed before the next is read."""
    with open_file(path, on_open) as file:
        events = ElementTree.iterparse(file, events=("start", "end"))  # noqa: S314 (expat limits entity expansion)
        _, root = next(events)
        if _local(root) != "mediawiki":
            raise DataError(f"'{path}' has the root <{_local(root)}>; expected <mediawiki>, a Wikipedia dump.")
        depth = 0
        for event, element in events:
            depth += 1 if event == "start" else -1
            if event == "end" and depth == 0:
                yield element
                root.clear()


def _documents(
    page: ElementTree.Element, media: Collection[str], prose: "Prose", path: Path
) -> Iterator[Document | Skipped]:
    revision = _child(page, "revision")
    source = _value(revision, "text")
    if revision is None or not _is_article(page, revision, source):
        return
    number = _value(page, "id")
    try:
        text, revision_id = prose(source, media), int(_value(revision, "id"))
    except ValueError as error:
        yield Skipped(f"{path}, page {number}", f"cannot be read: {error}")
        return
    if text:
        yield Document(number, text, _value(page, "title"), {"revision": revision_id})


def _is_article(page: ElementTree.Element, revision: ElementTree.Element, source: str) -> bool:
    return (
        _value(page, "ns") == _ARTICLE
        and _value(revision, "model") in ("", "wikitext")
        and _child(page, "redirect") is None
        and not _REDIRECT.match(source)
        and not _NO_ARTICLE.match(_value(page, "title"))
        and not _DISAMBIGUATION.search(source)
    )


def _media_names(siteinfo: ElementTree.Element) -> set[str]:
    """The names of the file and category namespaces in the language of the dump."""
    spaces = (element for element in siteinfo.iter() if _local(element) == "namespace")
    return {(space.text or "").lower() for space in spaces if space.get("key") in (_FILE, _CATEGORY)}


def _child(element: ElementTree.Element, name: str) -> ElementTree.Element | None:
    """The last child of that name, which is the latest of several revisions."""
    return next((child for child in reversed(element) if _local(child) == name), None)


def _value(element: ElementTree.Element | None, name: str) -> str:
    child = None if element is None else _child(element, name)
    return "" if child is None else child.text or ""


def _local(element: ElementTree.Element) -> str:
    """The tag without its XML namespace."""
    return element.tag.rpartition("}")[2]
