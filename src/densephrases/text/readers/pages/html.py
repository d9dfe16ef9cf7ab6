"""Title, text and headings of HTML pages: parsed as browsers do, without menus, page headers, footers and scripts."""

import codecs
import re
from contextlib import suppress
from dataclasses import replace

from selectolax.lexbor import LexborHTMLParser

from densephrases.text.layout import Layout
from densephrases.text.readers.decoded import decode
from densephrases.text.readers.pages.extracted import Extracted
from densephrases.text.readers.pages.html_parts import Parts, main_part
from densephrases.text.readers.pages.html_title import page_title
from densephrases.text.readers.pages.html_walk import HtmlWalk

# Read up to here for a declared encoding. Browsers stop at 1,024 bytes; pages with long comments before it exist.
_HEAD_BYTES = 4096
_DECLARED = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_MEANT_AS_WINDOWS = ("iso8859-1", "ascii")  # as in the HTML standard
# The standard's encodings as Python names them. Python has more, among them some that are none of text.
_ENCODINGS = frozenset(
    [
        "utf-8",
        "cp866",
        "koi8-r",
        "koi8-u",
        "mac-roman",
        "mac-cyrillic",
        "cp874",
        "gbk",
        "gb18030",
        "gb2312",
        "big5",
        "big5hkscs",
        "euc_jp",
        "iso2022_jp",
        "shift_jis",
        "cp932",
        "euc_kr",
        "cp949",
        "tis-620",
    ]
)
_ENCODINGS |= {f"cp{number}" for number in range(1250, 1259)} | {f"iso8859-{number}" for number in range(2, 17)}
_FARTHEST_HEADING = 300  # characters before the only <h1> that may be a page header


def decode_html(content: bytes) -> str:
    """The page as text: by its byte order mark, by the encoding it declares if it is valid, else as any text."""
    declared = _DECLARED.search(content[:_HEAD_BYTES])
    if declared and not content.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return content.decode(_codec(declared[1].decode("ascii")))
    return decode(content)


def _codec(label: str) -> str:
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return "utf-8"
    if name in _MEANT_AS_WINDOWS:
        return "cp1252"
    return name if name in _ENCODINGS else "utf-8"  # nothing in UTF-16 can be read as a declaration


def html_page(source: str) -> Extracted:
    """Title, text and headings of a page.

    A blank line separates blocks, list items and table rows, a line break what <br> does. A row of a table is a
    sentence with the header of each column, a term of a list is joined with its definition. White space collapses as in
    a browser, except in <pre>. Left out are scripts, styles, buttons, menus (by tag, role, usual names, or as lists of
    links into the page), permalinks, the headers, footers and asides of the page itself, and what little stands before
    its only <h1>; a header with an <h1> is kept.
    """
    tree = LexborHTMLParser(source)
    page = HtmlWalk(Parts(tree, source))
    root = main_part(tree)
    if root is not None:
        page.read(root)
    text, layout = _without_head(page.flow.text(), page.flow.layout())
    first = next((section.name for section in layout.sections if section.is_heading), "")
    site = tree.css_first("meta[property='og:site_name'], meta[name='application-name']")
    named = (site.attributes.get("content") or "") if site is not None else ""
    return Extracted(page_title(_title(tree), first, named), text, layout)


def _title(tree: LexborHTMLParser) -> str:
    """Pictures in a page have titles as well."""
    found = (node for node in tree.css("title") if node.parent is None or node.parent.tag != "svg")
    return next((node.text() for node in found), "")


def _without_head(text: str, layout: Layout) -> tuple[str, Layout]:
    """Without a short text before the only heading of the first level: the name and the slogan of a site."""
    first = [section.start for section in layout.sections if section.level == 1]
    if len(first) != 1 or not 0 < (cut := first[0]) <= min(_FARTHEST_HEADING, len(text) // 3):
        return text, layout
    sections = (
        replace(each, start=each.start - cut, end=each.end - cut) for each in layout.sections if each.start >= cut
    )
    return text[cut:], Layout(tuple(sections))
