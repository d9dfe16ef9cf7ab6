"""Which parts of an HTML page are no content: menus, page headers and footers, permalinks, scripts."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

_NEVER = frozenset(
    (
        *("annotation", "canvas", "iframe", "noembed", "noframes", "noscript", "object", "script", "style"),
        *("button", "select", "svg", "template"),
    )
)
_PAGE_PARTS = frozenset(("aside", "footer", "header"))
# Inside these, a header or an aside belongs to the content. A header inside another is part of it.
_CONTENT = ("article", "section", "blockquote", "header")
_MENUS = "nav, [role=navigation], [role=search], [role=contentinfo], [role=banner], [role=doc-toc]"
_SECTION_TAG = re.compile(r"<(/?)(aside|button|canvas|footer|header|nav|noscript|object)\b", re.IGNORECASE)

# As DocBook, Sphinx, MkDocs, Docusaurus, Jekyll, MediaWiki and others name them.
_MENU_NAMES = (
    "navheader navfooter navbar topnav sidenav nav-links breadcrumb breadcrumbs menu mainmenu submenu sidebar "
    "sphinxsidebar related toc table-of-contents fancy_toc toctree-wrapper footer site-footer page-footer "
    "site-header skip-link skip-to-content edit-page pagination prev-next cookie-banner mw-navigation "
    "mw-footer catlinks navbox nosearch tagline"
)
_ALWAYS = (
    ".headerlink, .permalink, .anchorjs-link, .anchor-link, .hash-link, .mw-editsection, .linenos, .lineno, "
    "sup.reference, [aria-hidden=true], .visually-hidden, .sr-only, .screen-reader-text"
)
_BY_NAME = ", ".join(f".{name}, #{name}" for name in _MENU_NAMES.split())
_NOT_BY_NAME = frozenset(("html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6"))
_MOST_MEASURED = 100  # elements named like menus whose text is compared with that of the page
_SYMBOLS = re.compile(r"[\s\u00b6\u00a7#\u2693\U0001f517]*")


class Parts:
    """The parts of one page."""

    def __init__(self, tree: LexborHTMLParser, source: str) -> None:
        self._menus = {node.mem_id for node in tree.css(f"{_MENUS}, {_ALWAYS}")} | _named_menus(tree)
        self._unclosed = _unclosed(source)

    def is_left_out(self, node: LexborNode, tag: str, opened: Counter[str]) -> bool:
        """Whether an element inside the `opened` ones is no content."""
        if tag in _NEVER or (self._menus and node.mem_id in self._menus):
            return True
        if tag == "a":
            return is_symbol(node)
        if tag in ("ul", "ol"):
            return not opened["ul"] and not opened["ol"] and _is_contents(node)
        if tag not in _PAGE_PARTS or any(opened[name] for name in _CONTENT):
            return False
        if tag == "header":
            return not opened["main"] and (self.is_unclosed(node, tag) or node.css_first("h1") is None)
        return tag == "aside" or not opened["main"]

    def is_unclosed(self, node: LexborNode, tag: str) -> bool:
        """Whether its end tag may be missing: then it holds all the rest of its parent."""
        return tag in self._unclosed and node.next is None


def main_part(tree: LexborHTMLParser) -> LexborNode | None:
    """The only <main> of a page if it has headings of its own, else all of it."""
    found = tree.css("main, [role=main]")
    return found[0] if len(found) == 1 and found[0].css_first("h1, h2") is not None else tree.root


def is_menu(node: LexborNode) -> bool:
    """Whether most of the text is that of links, or there is no text."""
    text = node.text()
    if not any(map(str.isalnum, text)):
        return True
    links = [node] if node.tag == "a" else node.css("a")
    return 2 * sum(len(link.text()) for link in links) >= len(text)


def is_symbol(link: LexborNode) -> bool:
    """Whether a link shows only a mark, as permalinks of headings do."""
    child = link.child
    text = link.text() if child is not None and child.next is None else "text"
    return bool(text) and _SYMBOLS.fullmatch(text[:8]) is not None


def _named_menus(tree: LexborHTMLParser) -> set[int]:
    """Elements with the class or id of menus, except those that hold most of the page or its main heading."""
    named = [node for node in tree.css(_BY_NAME) if node.tag not in _NOT_BY_NAME]
    size = len(tree.body.text()) if named and tree.body is not None else 0
    most: Callable[[LexborNode], bool] = lambda node: 2 * len(node.text()) > size  # noqa: E731
    content = {node.mem_id for node in islice(named, _MOST_MEASURED) if most(node)}
    return {node.mem_id for node in named if node.mem_id not in content and node.css_first("h1, main") is None}


def _is_contents(listing: LexborNode) -> bool:
    """Whether a list has only links to places in its own page."""
    links = listing.css("a")
    if len(links) < 2 or any(not (link.attributes.get("href") or "").startswith("#") for link in links):
        return False
    linked = sum(len(link.text().strip()) for link in links)
    return 5 * linked >= 4 * len("".join(listing.text().split()))


def _unclosed(source: str) -> set[str]:
    """Names of sections with more start tags than end tags."""
    balance: Counter[str] = Counter()
    for closing, name in _SECTION_TAG.findall(source):
        balance[name.lower()] += -1 if closing else 1
    return {name for name, count in balance.items() if count > 0}
