"""What each loss of the phrase model compares, as six panels."""

from collections.abc import Callable, Iterable

from .canvas import Canvas
from .measured import Measured

_WIDTH, _PANEL, _HEIGHT, _MARGIN = 980, 308, 212, 14
_SHOWN = slice(3, 12)  # "the flat ends on 31 March 2027."
_GOLD = 4  # "31"
_STEP = 30
_PROBABILITIES = ((2, 1), (4, 2), (3, 6), (8, 14), (46, 30), (12, 8), (6, 3))  # reader, model; made up
_ACROSS = ((0, 3), (1, 5), (4, 2), (2, 4))  # passages: tokens that compete strongly; made up


def losses(measured: Measured) -> Canvas:
    canvas = Canvas(_WIDTH, 2 * _HEIGHT + 3 * _MARGIN, "The losses", "What each loss of the phrase model compares.")
    panels: tuple[tuple[str, str, Callable[[Canvas, float, float], None]], ...] = (
        ("L_single", "in the passage: the gold token wins", lambda c, x, y: _in_passage(c, x, y, measured)),
        ("L_neg", "in the batch: the own gold phrase wins", _in_batch),
        ("L_tokens", "hard negatives: all passages of the batch", _across),
        ("L_distill", "distillation: as the reader says", _distillation),
        ("L_filter", "filter: keep what may be an answer", lambda c, x, y: _filter(c, x, y, measured)),
        ("L_reading, L_null", "reading: question and passage at once", _reading),
    )
    for number, (name, what, draw) in enumerate(panels):
        x = _MARGIN + (number % 3) * (_PANEL + _MARGIN)
        y = _MARGIN + (number // 3) * (_HEIGHT + _MARGIN)
        canvas.rect(x, y, _PANEL, _HEIGHT, "plain", 8)
        canvas.text(x + 14, y + 24, name, "head")
        canvas.text(x + 14, y + 42, what, "small soft")
        draw(canvas, x + 14, y + 56)
    return canvas


def _bars(canvas: Canvas, x: float, base: float, heights: Iterable[float], styles: Iterable[str]) -> None:
    for number, (height, style) in enumerate(zip(heights, styles, strict=True)):
        canvas.rect(x + number * _STEP, base - height, _STEP - 6, height, style, 2)


def _labels(canvas: Canvas, x: float, y: float, texts: Iterable[str], strong: Iterable[bool]) -> None:
    """Below bars, every other one lower, so that long ones have room."""
    for number, (text, is_strong) in enumerate(zip(texts, strong, strict=True)):
        style = "small" if is_strong else "small soft"
        canvas.text(x + number * _STEP + 12, y + 12 * (number % 2), text, style, "middle")


def _in_passage(canvas: Canvas, x: float, y: float, measured: Measured) -> None:
    tokens = measured.tokens[_SHOWN]
    styles = ["start" if number == _GOLD else "ghost" for number in range(len(tokens))]
    _bars(canvas, x, y + 88, [(token.start - 58) * 4.2 for token in tokens], styles)
    _labels(canvas, x, y + 102, [token.text for token in tokens], [style == "start" for style in styles])
    canvas.text(x, y + 140, "softmax of q_start · h over the tokens of the text", "small")


def _in_batch(canvas: Canvas, x: float, y: float) -> None:
    size, rows, previous = 21, 4, 4
    for row in range(rows):
        canvas.text(x + 20, y + 31 + row * size, f"q{row + 1}", "small", "end")
        for column in range(rows + previous):
            left = x + 30 + column * size + (12 if column >= rows else 0)
            style = "start" if row == column else "gone" if (row, column) in ((1, 3), (3, 1)) else "ghost"
            canvas.rect(left, y + 16 + row * size, size - 3, size - 3, style, 3)
    canvas.text(x + 30, y + 10, "gold phrases", "small soft")
    canvas.text(x + 42 + rows * size, y + 10, "previous batches", "small soft")
    canvas.text(x, y + 118, "each row is a softmax; previous: no gradient", "small")
    canvas.text(x, y + 136, "dashed: the same answer, left out", "small")


def _across(canvas: Canvas, x: float, y: float) -> None:
    names = ("own passage", "same article", "same article", "same article")
    for row, (name, (one, other)) in enumerate(zip(names, _ACROSS, strict=True)):
        top = y + 4 + row * 22
        canvas.text(x, top + 13, name, "small" if row == 0 else "small soft")
        for column in range(8):
            gold = row == 0 and column == 3
            height = 16 if gold else 11 if column in (one, other) else 5
            canvas.rect(x + 96 + column * 22, top + 16 - height, 18, height, "start" if gold else "ghost", 2)
    canvas.text(x, y + 118, "one softmax over all tokens of the batch, with", "small")
    canvas.text(x, y + 136, "passages that an earlier model confuses", "small")


def _distillation(canvas: Canvas, x: float, y: float) -> None:
    for number, (reader, model) in enumerate(_PROBABILITIES):
        left = x + 4 + number * 39
        canvas.rect(left, y + 96 - reader * 1.8, 14, reader * 1.8, "end", 2)
        canvas.rect(left + 15, y + 96 - model * 1.8, 14, model * 1.8, "start", 2)
    canvas.line((x, y + 97), (x + 272, y + 97))
    canvas.text(x, y + 118, "P_c: a reader of question and passage", "small end")
    canvas.text(x, y + 136, "P: the phrase model; KL(P ‖ P_c)", "small start")


def _filter(canvas: Canvas, x: float, y: float, measured: Measured) -> None:
    middle, scale, tokens = y + 64, 12.0, measured.tokens[_SHOWN]
    for number, token in enumerate(tokens):
        value = (token.filter - measured.threshold) * scale
        top, height = (middle - value, value) if value > 0 else (middle, -value)
        canvas.rect(x + number * _STEP, top, _STEP - 6, max(height, 1), "start" if value > 0 else "ghost", 2)
    canvas.line((x - 4, middle), (x + 272, middle), style="ink-line dashed")
    canvas.text(x, y + 10, f"threshold {measured.threshold:.1f}", "small")
    _labels(canvas, x, y + 102, [token.text for token in tokens], [measured.kept(token) for token in tokens])
    canvas.text(x, y + 140, "a logit for each token, without any question", "small")


def _reading(canvas: Canvas, x: float, y: float) -> None:
    cells = ((44, "[CLS]"), (64, "question"), (44, "title"), (112, "text"))
    for row in range(3):
        left, top = x, y + 4 + row * 28
        for width, words in cells:
            target = (row == 0 and words == "text") or (row > 0 and words == "[CLS]")
            canvas.rect(left, top, width, 22, "box", 3)
            if words == "text" and row == 0:
                canvas.rect(left + 58, top + 3, 26, 16, "start", 2)
                canvas.text(left + 8, top + 15, words, "small")
            else:
                style = "small bold start" if target else "small"
                canvas.text(left + width / 2, top + 15, words, style, "middle")
            left += width + 4
    canvas.text(x, y + 104, "own passage: the gold phrase", "small")
    canvas.text(x, y + 120, "confused passages, no answer: [CLS]", "small")
    canvas.text(x, y + 136, "one softmax over the tokens of four passages", "small")
