"""Titles and visible text of documents written in a markup language."""

import re
from html.parser import HTMLParser

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|$)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*([\"']?)(.+?)\1[ \t]*\r?$", re.MULTILINE)
_FENCE = re.compile(r" {0,3}(```+|~~~+)")

_UNSEEN = {"script", "style", "nav", "template", "noscript", "svg", "iframe", "object", "canvas", "select", "button"}
_LINES = {"br", "li", "dt", "dd", "tr"}
_CELLS = {"td", "th"}
_BLOCKS = (
    "address article aside blockquote body caption center details dialog div dl fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr html legend main ol p pre section summary table tbody tfoot thead ul"
)
_BREAKS = dict.fromkeys(_BLOCKS.split(), "\n\n") | dict.fromkeys(_LINES, "\n") | dict.fromkeys(_CELLS, " ")
_STRENGTH = {"": 0, " ": 1, "\n": 2, "\n\n": 3}
_SPACES = re.compile(r"[ \t\n\r\f]+")  # what HTML calls space: a no-break space is none


def markdown_title(text: str) -> str:
    """The title of the front matter, or else the first heading outside code blocks, or nothing."""
    front = _FRONT_MATTER.match(text)
    if front and (named := _FRONT_TITLE.search(front[1])):
        return named[2]
    return _first_heading(text[front.end() :] if front else text)


def _first_heading(text: str) -> str:
    fence = previous = ""
    for line in text.splitlines():
        if opened := _FENCE.match(line):
            fence = _fence_after(fence, opened[1])
        elif not fence:
            if heading := _HEADING.fullmatch(line):
                return heading[1].strip()
            if previous.strip() and _UNDERLINE.fullmatch(line):
                return previous.strip()
        previous = "" if fence or opened else line
    return ""


def _fence_after(fence: str, marker: str) -> str:
    """The code fence that is open after a line with this marker; only as long a marker of its kind closes one."""
    if not fence:
        return marker
    return "" if marker.startswith(fence) else fence


def html_text(source: str) -> tuple[str, str]:
    """Title and visible text of a page.

    Blocks are separated by a blank line, list items and table rows by a line end; space is joined as a browser does,
    except in <pre>. Scripts, styles and navigation are left out.
    """
    page = _Page()
    page.feed(source)
    page.close()
    return " ".join("".join(page.title).split()), "".join(page.pieces)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.pieces: list[str] = []
        self._gap = ""  # what separates the last piece from the next
        self._unseen = ""  # the element whose content is left out, and how often it is open
        self._depth = 0
        self._in_title = False
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._unseen:
            self._depth += tag == self._unseen
        elif tag in _UNSEEN:
            self._unseen, self._depth = tag, 1
        else:
            self._in_title = tag == "title" and not self.title
            self._preformatted += tag == "pre"
            self._widen(_BREAKS.get(tag, ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._unseen:
            self._widen(_BREAKS.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._depth -= tag == self._unseen
            self._unseen = self._unseen if self._depth else ""
            return
        self._in_title = self._in_title and tag != "title"
        self._preformatted = max(0, self._preformatted - (tag == "pre"))
        self._widen(_BREAKS.get(tag, ""))

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._in_title:
            self.title.append(data)
        elif self._preformatted:
            self._write(data)
        else:
            self._flow(_SPACES.sub(" ", data))

    def _flow(self, data: str) -> None:
        if data.startswith(" "):
            self._widen(" ")
        if visible := data.strip(" "):
            self._write(visible)
            if data.endswith(" "):
                self._widen(" ")

    def _write(self, data: str) -> None:
        if self.pieces:
            self.pieces.append(self._gap)
        self.pieces.append(data)
        self._gap = ""

    def _widen(self, gap: str) -> None:
        self._gap = max(self._gap, gap, key=_STRENGTH.__getitem__)
