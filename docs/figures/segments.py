"""The life of an index: each command leaves a manifest and the segments that it names."""

from dataclasses import dataclass

from .canvas import Canvas

_WIDTH, _LEFT, _COMMAND, _ROW, _TOP = 880, 28, 316, 62, 66
_BOX, _GAP = 34, 10


@dataclass(frozen=True, slots=True)
class Box:
    """A segment; `documents` sets its width. `gone` is on disk though the manifest no longer names it."""

    name: str
    documents: int
    marks: int = 0
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    command: str
    what: str
    segments: tuple[Box, ...]


_ROWS = (
    Row("densephrases index", "partial segments, committed one by one", (Box("1", 90), Box("2", 90), Box("3", 60))),
    Row("", "partial segments are merged at the end", (Box("A", 240),)),
    Row("densephrases add", "a new segment", (Box("A", 240), Box("B", 40))),
    Row(
        "densephrases add",
        "merged with segments that are not larger",
        (Box("A", 240), Box("C", 100), Box("B", 40, gone=True)),
    ),
    Row("densephrases delete", "marks in the segment that has the document", (Box("A", 240, marks=3), Box("C", 100))),
    Row("densephrases optimize", "one segment without deleted documents", (Box("D", 337),)),
)


def segments() -> Canvas:
    canvas = Canvas(
        _WIDTH, _TOP + _ROW * len(_ROWS) + 50, "Segments and their life", "What each command leaves of an index."
    )
    canvas.text(_LEFT, 34, "command", "soft small")
    canvas.text(_COMMAND, 34, "manifest", "soft small")
    canvas.text(_COMMAND + 112, 34, "segments: never changed once written", "soft small")
    for number, row in enumerate(_ROWS):
        _row(canvas, row, number)
    _legend(canvas)
    return canvas


def _row(canvas: Canvas, row: Row, number: int) -> None:
    y = _TOP + number * _ROW
    canvas.text(_LEFT, y + 4, row.command, "mono bold")
    canvas.text(_LEFT, y + 21, row.what, "soft small")
    canvas.box(_COMMAND, y - 8, 72, _BOX, f"state {number + 1}", "plain")
    if number:
        canvas.line((_COMMAND + 36, y - 8 - (_ROW - _BOX) + 2), (_COMMAND + 36, y - 11), arrow=True)
    x = _COMMAND + 112.0
    canvas.line((_COMMAND + 74, y + 9), (x - 4, y + 9), style="start-line", arrow=True)
    for segment in row.segments:
        x = _segment(canvas, segment, x, y - 8) + _GAP


def _segment(canvas: Canvas, segment: Box, x: float, y: float) -> float:
    """Draws it and returns its right edge."""
    width = segment.documents * 1.02
    canvas.rect(x, y, width, _BOX, "gone" if segment.gone else "box")
    canvas.text(x + width / 2, y + 21.5, segment.name, "soft" if segment.gone else "bold", "middle")
    for mark in range(segment.marks):
        left = x + width * (0.1, 0.3, 0.78)[mark]
        canvas.line((left, y + 8), (left + 14, y + 26), style="end-line")
        canvas.line((left + 14, y + 8), (left, y + 26), style="end-line")
    return x + width


def _legend(canvas: Canvas) -> None:
    y = canvas.height - 34
    canvas.line((_LEFT, y - 9), (_LEFT + 12, y + 4), style="end-line")
    canvas.line((_LEFT + 12, y - 9), (_LEFT, y + 4), style="end-line")
    canvas.text(_LEFT + 20, y + 2, "deleted document", "small")
    canvas.rect(_LEFT + 134, y - 10, 26, 16, "gone")
    canvas.text(_LEFT + 168, y + 2, "of the state before: kept for readers until the next change", "small")
    canvas.text(_WIDTH - _LEFT, y + 2, "a crash leaves the state of the row above", "small bold", "end")
