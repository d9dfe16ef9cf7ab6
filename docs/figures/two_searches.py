"""How one question finds a phrase: two vectors, two searches, one window."""

from .canvas import Canvas
from .measured import QUESTION, Measured

_LEFT, _TOP, _BARS, _TOKEN = 28, 196, 88, 26
_SCALE = (_BARS - 6) / (81 - 54)  # of scores from 54 to 81
_LOWEST = 54
_GAP = 6


def two_searches(measured: Measured) -> Canvas:
    places = _places(measured)
    width = int(places[-1][1]) + _LEFT
    canvas = Canvas(
        width, 466, "The two searches", "Start and end scores of each token of a passage, and the phrase they choose."
    )
    _question(canvas, width)
    for (left, right), token in zip(places, measured.tokens, strict=True):
        _token(canvas, left, right, token.text, token.start, token.end, kept=measured.kept(token))
    _windows(canvas, places, measured)
    return canvas


def _places(measured: Measured) -> list[tuple[float, float]]:
    """Left and right of each token."""
    places, left = [], float(_LEFT)
    for token in measured.tokens:
        right = left + max(26, 8 * len(token.text) + 10)
        places.append((left, right))
        left = right + _GAP
    return places


def _question(canvas: Canvas, width: int) -> None:
    canvas.box(_LEFT, 24, 210, 34, QUESTION)
    canvas.line((_LEFT + 214, 41), (_LEFT + 248, 41), arrow=True)
    canvas.box(_LEFT + 252, 24, 120, 34, "query encoder")
    canvas.line((_LEFT + 376, 34), (_LEFT + 410, 34), style="start-line", arrow=True)
    canvas.line((_LEFT + 376, 48), (_LEFT + 410, 48), style="end-line", arrow=True)
    canvas.text(_LEFT + 418, 38, "q_start: where does the answer start?", "start bold")
    canvas.text(_LEFT + 418, 56, "q_end: where does it end?", "end bold")
    canvas.text(_LEFT, 88, "first search: q_start · h of every stored token", "start bold")
    canvas.text(_LEFT, _TOP + _TOKEN + _BARS + 22, "second search: q_end · h of the same tokens", "end bold")
    canvas.text(width - _LEFT, 88, "dashed: not stored, the filter drops it", "small soft", "end")


def _token(canvas: Canvas, left: float, right: float, text: str, start: float, end: float, *, kept: bool) -> None:
    middle = (left + right) / 2
    canvas.rect(left, _TOP, right - left, _TOKEN, "box" if kept else "gone")
    canvas.text(middle, _TOP + 17.5, text, "" if kept else "soft", "middle")
    if kept:
        up, down = ((score - _LOWEST) * _SCALE for score in (start, end))
        canvas.rect(left + 2, _TOP - 3 - up, right - left - 4, up, "start", 2)
        canvas.rect(left + 2, _TOP + _TOKEN + 3, right - left - 4, down, "end", 2)


def _windows(canvas: Canvas, places: list[tuple[float, float]], measured: Measured) -> None:
    """Ends for the best start, starts for the best end, and the phrase that both find."""
    kept = [number for number, token in enumerate(measured.tokens) if measured.kept(token)]
    first = max(kept, key=lambda number: measured.tokens[number].start)
    last = max(kept, key=lambda number: measured.tokens[number].end)
    (a, _), (_, b) = places[first], places[last]
    canvas.rect(a - 3, _TOP - 3, b - a + 6, _TOKEN + 6, "ink-line", 6)
    y = _TOP + _TOKEN + _BARS + 46
    canvas.bracket(a, places[-1][1], y, -8, "start-line")
    canvas.text(a + 4, y + 17, "window of the best start: all ends within 20 words, in the same passage", "small start")
    canvas.bracket(places[0][0], b, y + 34, -8, "end-line")
    canvas.text(
        places[0][0] + 4, y + 51, "window of the best end: all starts within 20 words, in the same passage", "small end"
    )
    start, end = measured.tokens[first].start, measured.tokens[last].end
    score = f"score of “31 March 2027” = {start:.1f} + {end:.1f} \u2212 length penalty \u2212 lexical penalty"
    canvas.text(canvas.width / 2, canvas.height - 22, score, "bold", "middle")
