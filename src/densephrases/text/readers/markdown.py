"""Title, text and headings of Markdown files, without markup.

Everything takes time linear in the text, which Markdown's own rules for brackets and emphasis do not.
"""

import re

from densephrases.text.readers.markdown_inline import inline_text
from densephrases.text.readers.pages.extracted import Extracted
from densephrases.text.readers.pages.flow import Flow
from densephrases.text.readers.pages.tables import MOST_COLUMNS, Cell, Row, Table

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}=+[ \t]*")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|$)", re.DOTALL)
_FRONT_TITLE = re.compile(r"title:[ \t]*([\"']?)(.+?)\1[ \t]*")
_HEAD = 1 << 16  # characters in which a title is looked for
_LONGEST = 1000  # characters of a line that may be one: the time to match it grows with its square
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_QUOTE = re.compile(r"(?:[ \t]{0,3}>[ \t]?)+")
_REFERENCE = re.compile(r" {0,3}\[[^\]\n]{1,200}\]:[ \t]*\S")
_RULE = re.compile(r"(?:[-*_][ \t]{0,9}){3,}")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_DEFINITION = re.compile(r":[ \t]+")
_CODE_INDENT = ("    ", "\t")


def markdown_page(text: str) -> Extracted:
    """A heading, a list item and a row of a table is a block of its own, a row with the header of each column.

    Code keeps its lines. Front matter, link references and comments are left out.
    """
    front = _FRONT_MATTER.match(text[:_HEAD])
    lines = _Lines()
    for line in (text[front.end() :] if front else text).splitlines():
        lines.read(line)
    lines.end_table()
    return Extracted(inline_text(markdown_title(text)), lines.flow.text(), lines.flow.layout())


class _Lines:
    """Writes line after line."""

    def __init__(self) -> None:
        self.flow = Flow()
        self._fence = ""
        self._in_comment = False
        self._in_list = False
        self._table: Table | None = None
        self._previous = ""  # line of a paragraph that may become a heading or the header of a table

    def read(self, line: str) -> None:
        if self._fence or _FENCE.match(line):
            self._read_code(line)
        elif self._in_comment or line.lstrip().startswith("<!--"):
            self._in_comment = "-->" not in line
        else:
            self._read_text(_QUOTE.sub("", line, count=1) if line.lstrip().startswith(">") else line)

    def _read_code(self, line: str) -> None:
        marker = _FENCE.match(line)
        before, self._fence = self._fence, _fence_after(self._fence, marker[1]) if marker else self._fence
        if not before or not self._fence:
            self._end_block()
        else:
            self.flow.write(line)
            self.flow.widen("\n")

    def _read_text(self, line: str) -> None:
        if not line.strip():
            self._end_block()
        elif self._previous and self._begins_table(line):
            return
        elif self._table is not None and "|" in line:
            self._add_row(self._table, line, in_head=False)
        elif not self._is_heading(line):
            self._read_paragraph(line)

    def _read_paragraph(self, line: str) -> None:
        self.end_table()
        indented = line.startswith(_CODE_INDENT)
        text = line.strip()
        if indented and not self._in_list and not self._previous:
            self.flow.write(line.rstrip())
            self.flow.widen("\n")
            return
        if _REFERENCE.match(line):
            return
        item = _ITEM.match(text)
        if item and not _RULE.fullmatch(text):
            self.flow.break_block()
            self._in_list, text = True, text[item.end() :]
        elif self._previous and (defined := _DEFINITION.match(text)):
            self.flow.force(" " if self.flow.ends_with((".", "?", "!", ":")) else ": ")
            text = text[defined.end() :]
        elif not indented and not self._previous:
            self._in_list = False
        self._write_inline(text)
        self._previous = line if len(line) <= _LONGEST and not item else " "

    def _write_inline(self, text: str) -> None:
        if _RULE.fullmatch(text[:_LONGEST]):
            self.flow.break_block()
        elif plain := inline_text(text).strip():
            self.flow.write(plain)
            self.flow.widen("\n")

    def _is_heading(self, line: str) -> bool:
        if len(line) > _LONGEST:
            return False
        if heading := _HEADING.fullmatch(line):
            self._end_block()
            marks = line.strip()
            self._write_heading(heading[1], len(marks) - len(marks.lstrip("#")))
            return True
        marks = line.strip()
        if self._previous.strip() and marks and set(marks) in ({"="}, {"-"}) and self.flow.pieces:
            self._underlined(1 if marks[0] == "=" else 2)
            return True
        return False

    def _write_heading(self, text: str, level: int) -> None:
        self.flow.break_block()
        mark = self.flow.begin(min(max(level, 1), 6))
        if plain := inline_text(text).strip():
            self.flow.write(plain)
        self.flow.end(mark)
        self.flow.break_block()
        self._in_list = False

    def _underlined(self, level: int) -> None:
        """The line before, which is written already, is a heading."""
        mark = self.flow.begin(level)
        mark.first = len(self.flow.pieces) - 1
        self.flow.end(mark)
        self._end_block()

    def _begins_table(self, line: str) -> bool:
        if "|" not in self._previous or "-" not in line or set(line) - set("|-: \t"):
            return False
        self.flow.pop()
        self._table = Table()
        self._add_row(self._table, self._previous, in_head=True)
        self._previous = ""
        return True

    def _add_row(self, table: Table, line: str, *, in_head: bool) -> None:
        cells = _CELL_BORDER.split(line.strip().removeprefix("|").removesuffix("|"), maxsplit=MOST_COLUMNS)
        row = Row(in_head)
        for text in cells:
            cell = Cell(header=in_head)
            cell.flow.write(inline_text(text.strip()))
            row.cells.append(cell)
        table.rows.append(row)

    def end_table(self) -> None:
        if self._table is None:
            return
        table, self._table = self._table, None
        lines = table.sentences()
        if lines is None:
            lines = [cell.text for row in table.rows for cell in row.cells if cell.text]
        for line in lines:
            self.flow.break_block()
            self.flow.write(line)
        self.flow.break_block()

    def _end_block(self) -> None:
        self.end_table()
        self.flow.break_block()
        self._previous = ""


def markdown_title(text: str) -> str:
    """The title of the front matter, else the first heading outside code blocks, else nothing."""
    head = text[:_HEAD]
    front = _FRONT_MATTER.match(head)
    for line in front[1].splitlines() if front else ():
        if len(line) <= _LONGEST and (named := _FRONT_TITLE.fullmatch(line)):
            return named[2]
    return _first_heading(head[front.end() :] if front else head)


def _first_heading(text: str) -> str:
    fence = previous = ""
    for line in text.splitlines():
        if len(line) > _LONGEST:
            previous = ""
            continue
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
    """The code fence that is open after a line with this marker. Only a marker of its kind and length closes it."""
    if not fence:
        return marker
    return "" if marker.startswith(fence) else fence
