"""Word documents: headings, paragraphs, lists, tables, text boxes and notes; needs the extra `office`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from densephrases.errors import DataError, MissingExtraError, first_line
from densephrases.text.documents import Document
from densephrases.text.readers.files import split_name
from densephrases.text.readers.formats.blocks import Block, blocks_text, table_block
from densephrases.text.readers.formats.office_properties import title_and_metadata
from densephrases.text.readers.formats.zip_limits import open_zip, refuse_costly_xml
from densephrases.text.readers.limits import MAX_DOCUMENT, MOST_COLUMNS

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # the same for old programs
_REMOVED = {f"{_WORD}del", f"{_WORD}moveFrom", _FALLBACK}
_PARAGRAPH, _TABLE, _ROW, _CELL, _BOX = (f"{_WORD}{name}" for name in ("p", "tbl", "tr", "tc", "txbxContent"))
_WRITTEN = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}
_NOTES = ("/footnotes", "/endnotes")
_HEADINGS = ("heading", "title", "subtitle")


def read_docx(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document]:
    """One document. Insertions that were not accepted yet are text, deletions are not."""
    try:
        import docx
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is a Word document, which needs python-docx; install it with: pip install 'densephrases[office]'"
        ) from error
    with open_zip(path, limit) as archive:
        refuse_costly_xml(archive, path)
        try:
            document = docx.Document(archive.fp)
            body = _Body(document)
            text = blocks_text([*body.blocks(document.element.body), *body.notes()])
            title, metadata = title_and_metadata(document.core_properties, body.heading, split_name(path)[0])
        except Exception as error:  # a damaged document makes python-docx raise nearly anything
            raise DataError(f"'{path}' cannot be read as a Word document: {first_line(error)}.") from error
    yield Document(name, text, title, metadata)


class _Body:
    def __init__(self, document: Any) -> None:
        self._part = document.part
        self._styles = {style.style_id: (style.name or "").lower() for style in document.styles}
        self.heading = ""

    def blocks(self, element: Any) -> Iterator[Block]:
        for child in element:
            if child.tag == _PARAGRAPH:
                yield from self._paragraph(child)
            elif child.tag == _TABLE:
                yield from self._table(child)
            elif child.tag not in _REMOVED and isinstance(child.tag, str):
                yield from self.blocks(child)  # content controls and tracked changes around paragraphs

    def notes(self) -> Iterator[Block]:
        from docx.oxml import parse_xml

        for relation in self._part.rels.values():
            if relation.reltype.endswith(_NOTES) and not relation.is_external:
                for note in parse_xml(relation.target_part.blob):
                    if note.get(f"{_WORD}type") is None:  # others are the line above notes
                        yield from self.blocks(note)

    def _paragraph(self, paragraph: Any) -> Iterator[Block]:
        pieces: list[str] = []
        boxes: list[Any] = []
        _collect(paragraph, pieces, boxes)
        text = "".join(pieces).strip()
        style = self._style(paragraph)
        if style.startswith(_HEADINGS):
            self.heading = self.heading or " ".join(text.split())
        is_item = style.startswith("list") or paragraph.find(f"{_WORD}pPr/{_WORD}numPr") is not None
        yield Block(text, "item" if is_item and not style.startswith(_HEADINGS) else "paragraph")
        for box in boxes:
            yield from self.blocks(box)

    def _style(self, paragraph: Any) -> str:
        style = paragraph.find(f"{_WORD}pPr/{_WORD}pStyle")
        return "" if style is None else self._styles.get(style.get(f"{_WORD}val"), "")

    def _table(self, table: Any) -> Iterator[Block]:
        rows = [[cell for cell in row.iter(_CELL) if _owner(cell, _ROW) is row] for row in table.iter(_ROW)]
        own = [cells for cells in rows if cells and _owner(cells[0], _TABLE) is table]
        if sum(map(len, own)) == 1:  # a frame around text
            yield from self.blocks(own[0][0])
            return
        filled: list[list[str]] = []
        for cells in own:
            filled.append(self._row(cells, filled[-1] if filled else []))
        yield table_block(filled, has_header=_is_marked(own[0]) if own else False)

    def _row(self, cells: list[Any], above: list[str]) -> list[str]:
        """Cells over several columns or rows are repeated in each."""
        row: list[str] = []
        for cell in cells:
            merged = cell.find(f"{_WORD}tcPr/{_WORD}vMerge")
            goes_on = merged is not None and merged.get(f"{_WORD}val") != "restart" and len(row) < len(above)
            text = above[len(row)] if goes_on else " ".join(block.text for block in self.blocks(cell) if block.text)
            row += [text] * _columns(cell)
        return row[:MOST_COLUMNS]


def _collect(element: Any, pieces: list[str], boxes: list[Any]) -> None:
    for child in element:
        if child.tag == f"{_WORD}t":
            pieces.append(child.text or "")
        elif child.tag in _WRITTEN:
            pieces.append(_WRITTEN[child.tag])
        elif child.tag == _BOX:
            boxes.append(child)
        elif child.tag not in _REMOVED:
            _collect(child, pieces, boxes)


def _is_marked(cells: list[Any]) -> bool:
    """Whether a row is repeated on each page, or all of it is bold."""
    if _owner(cells[0], _ROW).find(f"{_WORD}trPr/{_WORD}tblHeader") is not None:
        return True
    runs = [run for cell in cells for run in cell.iter(f"{_WORD}r") if run.find(f"{_WORD}t") is not None]
    return bool(runs) and all(run.find(f"{_WORD}rPr/{_WORD}b") is not None for run in runs)


def _owner(element: Any, tag: str) -> Any:
    return next(element.iterancestors(tag), None)


def _columns(cell: Any) -> int:
    span = cell.find(f"{_WORD}tcPr/{_WORD}gridSpan")
    return 1 if span is None else max(1, min(int(span.get(f"{_WORD}val", 1)), MOST_COLUMNS))
