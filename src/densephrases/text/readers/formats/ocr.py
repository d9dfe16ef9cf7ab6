"""Text in images, recognised by RapidOCR on ONNX Runtime with the models of its wheel; needs the extra `ocr`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from densephrases.errors import MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image

_COLUMN_LINES = 3  # at least, on either side of a gap between columns of prose
_COLUMN_LENGTH = 15  # characters of their lines on average; the cells of a table are shorter
_COLUMN_GAP = 0.8  # of the height of a line
_PARAGRAPH_GAP = 0.7  # of the height of a line
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class RecognizedLine:
    """`box` is left, top, right and bottom in pixels."""

    text: str
    box: tuple[float, float, float, float]

    @property
    def height(self) -> float:
        return self.box[3] - self.box[1]


def recognize(image: "Image") -> list[RecognizedLine]:
    """The lines of text in an image in the order in which they are read: columns one after another."""
    found = _engine()(_pixels(image))
    if found.boxes is None or found.txts is None:
        return []
    lines = [_line(text, corners) for text, corners in zip(found.txts, np.asarray(found.boxes), strict=True)]
    return reading_order([line for line in lines if line.text.strip()])


def _line(text: str, corners: Any) -> RecognizedLine:
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    return RecognizedLine(text, (float(left), float(top), float(right), float(bottom)))


def lines_text(lines: Sequence[RecognizedLine]) -> str:
    """Lines as text; a blank line where the next is far below, or above in another column."""
    pieces: list[str] = []
    for before, line in zip([None, *lines], lines, strict=False):
        if before is not None:
            pieces.append(_gap(before, line))
        pieces.append(line.text.strip())
    return "".join(pieces)


def _gap(before: RecognizedLine, line: RecognizedLine) -> str:
    if _is_same_row(before, line) and line.box[0] >= before.box[0]:
        return " "
    space = line.box[1] - before.box[3]
    is_apart = space > _PARAGRAPH_GAP * max(before.height, line.height) or space < -line.height
    return "\n\n" if is_apart else "\n"


@cache
def _engine() -> Any:
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        raise MissingExtraError(
            "Text in images needs rapidocr; install it with: pip install 'densephrases[ocr]'"
        ) from error
    return RapidOCR(params={"Global.log_level": "critical"})


def _pixels(image: "Image") -> Any:
    """Blue, green, red, on white where the image is transparent."""
    from PIL import Image

    if "A" in image.getbands() or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return np.ascontiguousarray(np.asarray(image.convert("RGB"))[:, :, ::-1])


def reading_order(lines: Sequence[RecognizedLine], depth: int = 0) -> list[RecognizedLine]:
    """Cut the page between columns of prose, else at its widest blank stripe, and read the parts one after another."""
    if len(lines) < 2 or depth > _DEEPEST:
        return _by_rows(lines)
    for cut in (_between_columns(lines), _between_stripes(lines)):
        if cut is not None:
            return [line for part in cut for line in reading_order(part, depth + 1)]
    return _by_rows(lines)


_Parts = tuple[list[RecognizedLine], list[RecognizedLine]]


def _between_columns(lines: Sequence[RecognizedLine]) -> _Parts | None:
    cut = _widest_gap(lines, 0, _COLUMN_GAP * median(line.height for line in lines))
    if cut is None or any(len(part) < _COLUMN_LINES for part in cut):
        return None
    return cut if all(mean(len(line.text) for line in part) >= _COLUMN_LENGTH for part in cut) else None


def _between_stripes(lines: Sequence[RecognizedLine]) -> _Parts | None:
    return _widest_gap(lines, 1, 0.0)


def _widest_gap(lines: Sequence[RecognizedLine], axis: int, least: float) -> _Parts | None:
    """The lines before and after the widest gap along an axis, if one is wider than `least`."""
    ordered = sorted(lines, key=lambda line: line.box[axis])
    reached, widest, place = ordered[0].box[axis + 2], least, 0
    for number, line in enumerate(ordered[1:], start=1):
        if line.box[axis] - reached > widest:
            widest, place = line.box[axis] - reached, number
        reached = max(reached, line.box[axis + 2])
    return (ordered[:place], ordered[place:]) if place else None


def _by_rows(lines: Sequence[RecognizedLine]) -> list[RecognizedLine]:
    rows: list[list[RecognizedLine]] = []
    for line in sorted(lines, key=lambda line: line.box[1] + line.box[3]):
        if rows and _is_same_row(rows[-1][-1], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.box[0])]


def _is_same_row(first: RecognizedLine, second: RecognizedLine) -> bool:
    overlap = min(first.box[3], second.box[3]) - max(first.box[1], second.box[1])
    return overlap > min(first.height, second.height) / 2
