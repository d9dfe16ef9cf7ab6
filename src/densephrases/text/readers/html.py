"""Title and text of HTML pages: parsed as browsers do, without menus, page headers, footers and scripts."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import dropwhile

from selectolax.lexbor import LexborHTMLParser, LexborNode

from densephrases.text.readers.decoded import decode

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

_LEFT_OUT = frozenset(
    ("annotation", "canvas", "iframe", "noembed", "noframes", "noscript", "object", "script", "style")
)
_LEFT_OUT |= {"button", "select", "style", "svg", "template"}
_PAGE_PARTS = frozenset(("aside", "footer", "header"))
# Inside these, a header or an aside belongs to the content. A header inside another is part of it.
_CONTENT = ("article", "section", "blockquote", "header")
_MENUS = "nav, [role=navigation], [role=search], [role=contentinfo]"
_SECTION_TAG = re.compile(r"<(/?)(aside|button|canvas|footer|header|nav|noscript|object)\b", re.IGNORECASE)

_BLOCKS = (
    "address article aside blockquote body caption center details dialog div dl fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr html legend main nav ol p pre section summary table tbody tfoot thead ul"
)
_LINES = ("br", "li", "dt", "dd", "tr")
_CELLS = ("td", "th")
_BREAKS = dict.fromkeys(_BLOCKS.split(), "\n\n") | dict.fromkeys(_LINES, "\n") | dict.fromkeys(_CELLS, " ")
_STRENGTH = {"": 0, " ": 1, "\n": 2, "\n\n": 3}
_SPACES = re.compile(r"[ \t\n\r\f]+")  # HTML's white space, without the no-break space
_RECOVERED = "inside a section that was never closed"


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


def html_text(source: str) -> tuple[str, str]:
    """Title and text of a page.

    A blank line separates blocks, a line break list items and table rows, a space table cells. White space collapses
    as in a browser, except in <pre>. Left out are scripts, styles, menus (<nav> or by role), buttons, and
    the headers, footers and asides of the page itself; a header with an <h1> is kept.
    """
    tree = LexborHTMLParser(source)
    page = _Page(menus={node.mem_id for node in tree.css(_MENUS)}, unclosed=_unclosed(source))
    if tree.root is not None:
        page.read(tree.root)
    return " ".join((page.title or "").split()), "".join(page.pieces)


def _unclosed(source: str) -> set[str]:
    """Names of sections with more start tags than end tags."""
    balance: Counter[str] = Counter()
    for closing, name in _SECTION_TAG.findall(source):
        balance[name.lower()] += -1 if closing else 1
    return {name for name, count in balance.items() if count > 0}


class _Page:
    def __init__(self, menus: set[int], unclosed: set[str]) -> None:
        self.title: str | None = None
        self.pieces: list[str] = []
        self._gap = ""  # separates the last piece from the next
        self._open: Counter[str] = Counter()
        self._menus = menus
        self._unclosed = unclosed

    def read(self, root: LexborNode) -> None:
        """Walk the tree without recursion: broken pages nest thousands of levels deep."""
        ahead: list[LexborNode | str] = [root]  # a name stands for the end of its element
        while ahead:
            node = ahead.pop()
            if isinstance(node, str):
                self._open[node] -= 1
                self._widen(_BREAKS.get(node, ""))
            elif node.is_text_node:
                self._text(node.text_content or "")
            elif node.is_element_node:
                ahead.extend(reversed(self._enter(node)))

    def _enter(self, node: LexborNode) -> list[LexborNode | str]:
        """The parts of an element to read, in order; none if it is left out."""
        tag = node.tag or ""
        if tag == "title":
            self.title = node.text() if self.title is None else self.title
            return []
        children: Iterable[LexborNode] = node.iter(include_text=True)
        end = [tag]
        if self._is_left_out(node, tag):
            if not self._is_unclosed(node, tag):
                return []
            if not self._open[_RECOVERED]:
                children = dropwhile(_is_menu, children)
            end.append(_RECOVERED)
        for name in end:
            self._open[name] += 1
        self._widen(_BREAKS.get(tag, ""))
        return [*children, *end]

    def _is_left_out(self, node: LexborNode, tag: str) -> bool:
        if tag in _LEFT_OUT or (self._menus and node.mem_id in self._menus):
            return True
        if tag not in _PAGE_PARTS or any(self._open[name] for name in _CONTENT):
            return False
        if tag == "header":
            return not self._open["main"] and (self._is_unclosed(node, tag) or node.css_first("h1") is None)
        return tag == "aside" or not self._open["main"]

    def _is_unclosed(self, node: LexborNode, tag: str) -> bool:
        """Whether its end tag may be missing: then it holds all the rest of its parent."""
        return tag in self._unclosed and node.next is None

    def _text(self, text: str) -> None:
        if self._open["pre"]:
            self._write(text)
            return
        flowing = _SPACES.sub(" ", text)
        if flowing.startswith(" "):
            self._widen(" ")
        if visible := flowing.strip(" "):
            self._write(visible)
            if flowing.endswith(" "):
                self._widen(" ")

    def _write(self, text: str) -> None:
        if self.pieces:
            self.pieces.append(self._gap)
        self.pieces.append(text)
        self._gap = ""

    def _widen(self, gap: str) -> None:
        self._gap = max(self._gap, gap, key=_STRENGTH.__getitem__)


def _is_menu(node: LexborNode) -> bool:
    """Whether most of the text is that of links, or there is no text."""
    text = node.text()
    if not any(map(str.isalnum, text)):
        return True
    links = [node] if node.tag == "a" else node.css("a")
    return 2 * sum(len(link.text()) for link in links) >= len(text)
