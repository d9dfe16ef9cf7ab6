"""The walk through the elements of an HTML page that writes its text."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import dropwhile

from selectolax.lexbor import LexborNode

from densephrases.text.layout import TERM_LEVEL
from densephrases.text.readers.pages.flow import Flow, Mark
from densephrases.text.readers.pages.html_parts import Parts, is_menu
from densephrases.text.readers.pages.tables import MOST_COLUMNS, Cell, Row, Table

_BLOCKS = (
    "address article aside blockquote body caption center details dialog div dl fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table tbody tfoot thead tr ul"
)
_BREAKS = dict.fromkeys(_BLOCKS.split(), "\n\n") | {"br": "\n", "td": " ", "th": " "}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PARTS = frozenset((*_HEADINGS, "dl", "dt", "dd", "pre", "table", "thead", "tr", "td", "th"))
_SPACES = re.compile(r"[ \t\n\r\f]+")  # HTML's white space, without the no-break space
_RECOVERED = "inside a section that was never closed"
_DEEPEST_TABLE = 4  # tables in tables; those in deeper ones are read as blocks, which takes no copies
_LONG_DEFINITION = 400  # characters; the term of a longer one is context of its later passages
_LONGEST_TERMS = 200  # characters of terms that share a definition
_NO_COLON = (".", "!", "?", ":", ";", ",")
_ADMONITIONS = frozenset(("note", "notes", "tip", "hint", "caution", "warning", "important", "see also", "example"))
_SPAN = re.compile(r"\s*(\d{1,5})")


@dataclass(slots=True)
class _Definitions:
    """A list of terms and definitions."""

    level: int
    term: Mark | None = None  # the last one
    after_term: bool = False  # and nothing of its definition
    remembered: bool = False  # whether any term was


class HtmlWalk:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._flows = [Flow()]
        self._open: Counter[str] = Counter()
        self._tables: list[Table] = []
        self._definitions: list[_Definitions] = []
        self._heading: Mark | None = None

    @property
    def flow(self) -> Flow:
        """What is written to: the page, or a cell of a table."""
        return self._flows[-1]

    def read(self, root: LexborNode) -> None:
        """Walk the tree without recursion: broken pages nest thousands of levels deep."""
        ahead: list[LexborNode | str] = [root]  # a name stands for the end of its element
        while ahead:
            node = ahead.pop()
            if isinstance(node, str):
                self._leave(node)
            elif node.is_text_node:
                self._text(node.text_content or "")
            elif node.is_element_node:
                ahead.extend(reversed(self._enter(node)))

    def _enter(self, node: LexborNode) -> list[LexborNode | str]:
        """The parts of an element to read, in order; none if it is left out."""
        tag = node.tag or ""
        if tag == "title":
            return []
        children: Iterable[LexborNode] = node.iter(include_text=True)
        end = [tag]
        if self._parts.is_left_out(node, tag, self._open):
            if not self._parts.is_unclosed(node, tag):
                return []
            if not self._open[_RECOVERED]:
                children = dropwhile(is_menu, children)
            end.append(_RECOVERED)
        for name in end:
            self._open[name] += 1
        if tag in _BREAKS:
            self.flow.widen(_BREAKS[tag])
        if tag in _PARTS:
            self._begin(tag, node)
        return [*children, *end]

    def _leave(self, tag: str) -> None:
        self._open[tag] -= 1
        if tag in _PARTS:
            self._end(tag)
        if tag in _BREAKS:
            self.flow.widen(_BREAKS[tag])

    def _begin(self, tag: str, node: LexborNode) -> None:
        if tag in _HEADINGS:
            self._begin_heading(_HEADINGS[tag])
        elif tag in ("dl", "dt", "dd"):
            self._begin_definition(tag)
        elif tag == "pre":
            self.flow.break_block()
            self._lay_out()
        elif tag in ("table", "thead", "tr", "td", "th"):
            self._begin_table_part(tag, node)

    def _end(self, tag: str) -> None:
        if tag in _HEADINGS and self._heading is not None:
            self.flow.end(self._heading)
            self._heading.kept &= self.flow.written(self._heading).casefold() not in _ADMONITIONS
            self._heading = None
        elif tag == "pre":
            self.flow.strip_end()
        elif tag in ("dl", "dt", "dd"):
            self._end_definition(tag)
        elif tag in ("table", "thead", "td", "th"):
            self._end_table_part(tag)

    def _begin_heading(self, level: int) -> None:
        self._lay_out()
        if self._heading is None:
            self._heading = self.flow.begin(level)

    def _lay_out(self) -> None:
        if self._tables:
            self._tables[-1].lays_out = True

    def _begin_definition(self, tag: str) -> None:
        if tag == "dl":
            self.flow.break_block()
            self._definitions.append(_Definitions(TERM_LEVEL + len(self._definitions)))
        elif not self._definitions:
            self.flow.widen("\n\n")
        elif tag == "dt":
            self._begin_term(self._definitions[-1])
        elif self._definitions[-1].after_term:
            self._definitions[-1].after_term = False
            self.flow.force(" " if self.flow.ends_with(_NO_COLON) else ": ")
        else:
            self.flow.widen("\n\n")

    def _begin_term(self, listed: _Definitions) -> None:
        if listed.after_term and listed.term is not None:
            if self.flow.characters - listed.term.characters < _LONGEST_TERMS:
                self.flow.force(", ")
                return
            self.flow.break_block()  # a list of terms alone, such as an index
        self._finish_definition(listed)
        self.flow.widen("\n\n")
        listed.term = self.flow.begin(listed.level)

    def _end_definition(self, tag: str) -> None:
        if not self._definitions:
            self.flow.widen("\n\n")
        elif tag == "dt":
            listed = self._definitions[-1]
            if listed.term is not None:
                self.flow.end(listed.term)
                listed.after_term = listed.term.kept
        elif tag == "dl":
            listed = self._definitions.pop()
            self._finish_definition(listed)
            if listed.remembered:
                self.flow.close(listed.level)
            self.flow.break_block()
        else:
            self.flow.widen("\n\n")

    def _finish_definition(self, listed: _Definitions) -> None:
        if listed.term is not None:
            is_long = self.flow.characters - listed.term.characters > _LONG_DEFINITION
            listed.term.kept = listed.term.kept and is_long and not listed.after_term
            listed.remembered |= listed.term.kept
        listed.term, listed.after_term = None, False

    def _begin_table_part(self, tag: str, node: LexborNode) -> None:
        if tag == "table":
            self._lay_out()
            if self._open["table"] <= _DEEPEST_TABLE:
                self._tables.append(Table(lays_out=node.attributes.get("role") in ("presentation", "none")))
        elif self._open["table"] > _DEEPEST_TABLE or not self._tables:
            return
        elif tag == "thead":
            self._tables[-1].in_head = True
        elif tag == "tr":
            self._tables[-1].rows.append(Row(self._tables[-1].in_head))
        elif self._tables[-1].rows:
            cell = Cell(
                tag == "th" or _is_bold(node), _span(node, "colspan", MOST_COLUMNS), _span(node, "rowspan", 1000)
            )
            self._tables[-1].rows[-1].cells.append(cell)
            self._flows.append(cell.flow)

    def _end_table_part(self, tag: str) -> None:
        if self._open["table"] + (tag == "table") > _DEEPEST_TABLE or not self._tables:
            return
        table = self._tables[-1]
        if tag == "thead":
            table.in_head = False
        elif tag == "table":
            self._tables.pop()
            self._write_table(table)
        elif table.rows:
            self._flows.pop()

    def _write_table(self, table: Table) -> None:
        sentences = table.sentences()
        for sentence in sentences or ():
            self.flow.break_block()
            self.flow.write(sentence)
        if sentences is None:
            table.join_names()
            for row in table.rows:
                for cell in row.cells if not (row.in_head and len(row.cells) == 1) else ():
                    self.flow.break_block()
                    self.flow.append(cell.flow)
        self.flow.break_block()

    def _text(self, text: str) -> None:
        if self._open["pre"]:
            self.flow.write(text)
            return
        flowing = _SPACES.sub(" ", text)
        if flowing.startswith(" "):
            self.flow.widen(" ")
        if visible := flowing.strip(" "):
            self.flow.write(visible)
            if flowing.endswith(" "):
                self.flow.widen(" ")


def _is_bold(cell: LexborNode) -> bool:
    """Whether all of its text is bold, as in headers of tables that have no <th>."""
    bold = next((child for child in cell.iter(include_text=False)), None)
    if bold is None or bold.tag not in ("b", "strong"):
        return False
    text = bold.text().strip()
    return bool(text) and text == cell.text().strip()


def _span(node: LexborNode, name: str, most: int) -> int:
    written = _SPAN.match(node.attributes.get(name) or "")
    return min(max(int(written[1]), 1), most) if written else 1
