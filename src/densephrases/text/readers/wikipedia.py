"""Articles of a Wikipedia dump (pages-articles XML); needs the extra `wiki`.

The XML is read with the standard library: mwxml keeps an empty element per page, so its memory grows with the dump.
"""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from xml.etree.ElementTree import Element

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.files import OnOpen, open_file
from densephrases.text.readers.limits import MAX_DOCUMENT
from densephrases.text.readers.xml_children import XmlChildren

if TYPE_CHECKING:
    from collections.abc import Callable

    Prose: TypeAlias = Callable[[str, Collection[str]], str]

_ARTICLE, _FILE, _CATEGORY = "0", "6", "14"  # numbers of namespaces, the same in every language
_NO_ARTICLE = re.compile(r"(lists?|index|outline) of |.*\(disambiguation\)$", re.IGNORECASE)
_LONGEST = 1 << 23  # characters of an article; MediaWiki itself allows 2 MiB
_REDIRECT = re.compile(r"\s*#redirect\b", re.IGNORECASE)  # old dumps do not mark them in the XML
_DISAMBIGUATION = re.compile(
    r"__DISAMBIG__|\{\{\s*+((?:[\w ]+ )?disambiguation|disambiguation page|disambig|disamb|dab|hndis|geodis|numberdis|"
    r"begriffsklärung|homonymie|desambiguación|desambiguação|disambigua|doorverwijspagina|неоднозначность)\s*[|}]",
    re.IGNORECASE,
)


def read_dump(path: Path, on_open: OnOpen | None = None, limit: int = MAX_DOCUMENT) -> Iterator[Document | Skipped]:
    """The articles in order, one page at a time: its id, title and paragraphs, separated by blank lines.

    Headings, lists, tables, infoboxes, images and references are left out, and so are redirects, disambiguation
    pages, list pages and everything that is not an article.
    """
    prose = _load_prose(path)
    media = {"file", "image", "category"}
    for element in _elements(path, on_open, limit):
        if element.tag == "siteinfo":
            media |= _media_names(element)
        elif element.tag == "page":
            yield from _documents(element, media, prose, path)


def _load_prose(path: Path) -> "Prose":
    try:
        from densephrases.text.readers.wikitext import prose
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is XML such as Wikipedia's dumps, which need mwparserfromhell; "
            "install it with: pip install 'densephrases[wiki]'"
        ) from error
    return prose


def _elements(path: Path, on_open: OnOpen | None, limit: int) -> Iterator[Element]:
    """The children of <mediawiki>, each freed before the next is read."""
    with open_file(path, on_open) as file:
        children = XmlChildren(file, path, limit)
        for element in children:
            _refuse_other_root(children.root, path)
            yield element
        _refuse_other_root(children.root, path)


def _refuse_other_root(root: str, path: Path) -> None:
    if root != "mediawiki":
        raise DataError(f"'{path}' has the root <{root}>; expected <mediawiki>, a Wikipedia dump.")


def _documents(page: Element, media: Collection[str], prose: "Prose", path: Path) -> Iterator[Document | Skipped]:
    revision = _child(page, "revision")
    source = _value(revision, "text")
    number = _value(page, "id")
    if len(source) > _LONGEST:
        yield Skipped(f"{path}, page {number}", f"has more than {_LONGEST:,} characters of wikitext.")
        return
    if revision is None or not _is_article(page, revision, source):
        return
    try:
        text, revision_id = prose(source, media), int(_value(revision, "id"))
    except ValueError as error:
        yield Skipped(f"{path}, page {number}", f"cannot be read: {error}")
        return
    if text:
        yield Document(number, text, _value(page, "title"), {"revision": revision_id})


def _is_article(page: Element, revision: Element, source: str) -> bool:
    return (
        _value(page, "ns") == _ARTICLE
        and _value(revision, "model") in ("", "wikitext")
        and _child(page, "redirect") is None
        and not _REDIRECT.match(source)
        and not _NO_ARTICLE.match(_value(page, "title"))
        and not _DISAMBIGUATION.search(source)
    )


def _media_names(siteinfo: Element) -> set[str]:
    """The names of the file and category namespaces in the language of the dump."""
    spaces = (element for element in siteinfo.iter() if element.tag == "namespace")
    return {(space.text or "").lower() for space in spaces if space.get("key") in (_FILE, _CATEGORY)}


def _child(element: Element, name: str) -> Element | None:
    """The last child of that name, which is the latest of several revisions."""
    return next((child for child in reversed(element) if child.tag == name), None)


def _value(element: Element | None, name: str) -> str:
    child = None if element is None else _child(element, name)
    return "" if child is None else child.text or ""
