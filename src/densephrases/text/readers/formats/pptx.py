"""PowerPoint presentations: titles, text, tables, charts and notes of slides; needs the extra `office`."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from densephrases.errors import DataError, MissingExtraError, first_line
from densephrases.text.documents import Document
from densephrases.text.passages import RECORD_BREAK
from densephrases.text.readers.files import split_name
from densephrases.text.readers.formats.blocks import Block, blocks_text, table_block
from densephrases.text.readers.formats.office_properties import title_and_metadata
from densephrases.text.readers.formats.zip_limits import open_zip, refuse_costly_xml
from densephrases.text.readers.limits import MAX_DOCUMENT

_ON_EVERY_SLIDE = ("DATE", "FOOTER", "SLIDE_NUMBER")


def read_pptx(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document]:
    """One document; each slide is a passage of its own, with its notes at the end."""
    try:
        import pptx
    except ImportError as error:
        raise MissingExtraError(
            f"'{path}' is a presentation, which needs python-pptx; install it with: pip install 'densephrases[office]'"
        ) from error
    with open_zip(path, limit) as archive:
        refuse_costly_xml(archive, path)
        try:
            presentation = pptx.Presentation(archive.fp)
            slides = list(presentation.slides)
            text = RECORD_BREAK.join(filter(None, (blocks_text(_slide(slide)) for slide in slides)))
            heading = next((title for slide in slides if (title := _title(slide))), "")
            title, metadata = title_and_metadata(presentation.core_properties, heading, split_name(path)[0])
        except Exception as error:  # a damaged presentation makes python-pptx raise nearly anything
            raise DataError(f"'{path}' cannot be read as a presentation: {first_line(error)}.") from error
    yield Document(name, text, title, metadata)


def _title(slide: Any) -> str:
    shape = slide.shapes.title
    return "" if shape is None else " ".join(shape.text_frame.text.split())


def _slide(slide: Any) -> Iterator[Block]:
    title = slide.shapes.title
    yield Block(_title(slide))
    others = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
    for shape in sorted(others, key=lambda shape: (shape.top or 0, shape.left or 0)):
        yield from _shape(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield Block(_lines(slide.notes_slide.notes_text_frame.text))


def _shape(shape: Any) -> Iterator[Block]:
    if shape.is_placeholder and shape.placeholder_format.type.name in _ON_EVERY_SLIDE:
        return
    if hasattr(shape, "shapes"):  # a group
        for inner in shape.shapes:
            yield from _shape(inner)
    elif getattr(shape, "has_table", False):
        rows = [[_lines(cell.text) for cell in row.cells] for row in shape.table.rows]
        yield table_block(rows, has_header=shape.table.first_row)
    elif getattr(shape, "has_chart", False):
        yield _chart(shape.chart)
    elif shape.has_text_frame:
        yield from _paragraphs([_lines(paragraph.text) for paragraph in shape.text_frame.paragraphs])


def _paragraphs(texts: Iterable[str]) -> Iterator[Block]:
    """Several paragraphs in one frame are a list."""
    filled = [text for text in texts if text.strip()]
    yield from (Block(text, "item" if len(filled) > 1 else "paragraph") for text in filled)


def _lines(text: str) -> str:
    return text.replace("\v", "\n").strip()


def _chart(chart: Any) -> Block:
    plot = next(iter(chart.plots), None)
    if plot is None:
        return Block("")
    series = list(plot.series)
    rows = [["", *(str(each.name) for each in series)]]
    for place, category in enumerate(plot.categories):
        values = [each.values[place] if place < len(each.values) else None for each in series]
        rows.append([str(category), *("" if value is None else f"{value:g}" for value in values)])
    return table_block(rows, has_header=True)
