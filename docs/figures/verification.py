"""The second look: what is read again, and when."""

from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve

from .canvas import Canvas

_WIDTH, _HEIGHT, _LEFT = 940, 346, 28
_BOX = 150  # of answers
_RIGHT = _WIDTH - _LEFT - _BOX


def verification() -> Canvas:
    canvas = Canvas(_WIDTH, _HEIGHT, "Verification", "Answers of search with low confidence are read again.")
    _first_look(canvas)
    _decision(canvas)
    _second_look(canvas)
    return canvas


def _first_look(canvas: Canvas) -> None:
    canvas.text(_LEFT, 34, "First look: search", "head")
    canvas.text(_LEFT, 53, "question and passages are encoded apart", "small soft")
    canvas.box(_LEFT, 70, 112, 30, "question", "box")
    canvas.box(_LEFT, 140, 112, 30, "passages", "box")
    canvas.text(_LEFT, 187, "encoded when indexed", "small soft")
    canvas.line((_LEFT + 116, 85), (_LEFT + 168, 108), style="start-line", arrow=True)
    canvas.line((_LEFT + 116, 155), (_LEFT + 168, 128), style="start-line", arrow=True)
    canvas.box(_LEFT + 172, 98, 108, 40, "inner products")
    canvas.text(_LEFT + 226, 156, "milliseconds", "small soft", "middle")


def _decision(canvas: Canvas) -> None:
    x, y = 440, 118
    canvas.line((_LEFT + 284, y), (x - 62, y), style="start-line", arrow=True)
    canvas.line((x - 58, y), (x, y - 44), (x + 58, y), (x, y + 44), (x - 58, y), style="ink-line")
    canvas.text(x, y - 3, "first answer", "small", "middle")
    canvas.text(x, y + 13, f"≥ {_read_below():.0%} sure?", "small", "middle")
    canvas.line((x + 60, y), (_RIGHT - 4, y), style="start-line", arrow=True)
    canvas.text(x + 130, y - 8, "yes", "small bold", "middle")
    canvas.box(_RIGHT, y - 20, _BOX, 40, "answers of search")
    canvas.line((x, y + 46), (x, y + 100), style="end-line", arrow=True)
    canvas.text(x + 10, y + 72, "no", "small bold")


def _second_look(canvas: Canvas) -> None:
    y = 240
    canvas.text(_LEFT, y - 4, "Second look: reading", "head")
    canvas.text(_LEFT, y + 15, "the same backbone encodes question", "small soft")
    canvas.text(_LEFT, y + 31, "and passage as one input", "small soft")
    x = 262.0
    for width, words in (
        (44, "[CLS]"),
        (76, "question"),
        (44, "[SEP]"),
        (44, "title"),
        (44, "[SEP]"),
        (110, "passage"),
        (44, "[SEP]"),
    ):
        canvas.box(x, y - 18, width, 30, words)
        x += width + 3
    canvas.text(262, y + 34, "two logits for each token: start and end; [CLS]: not here", "small soft")
    canvas.line((x + 2, y - 3), (_RIGHT - 4, y - 3), style="end-line", arrow=True)
    canvas.box(_RIGHT, y - 23, _BOX, 40, "verified answers")
    formula = "score = w_reader \u00d7 (start logit + end logit) + w_unverified \u00d7 confidence that search has in it"
    canvas.text(_WIDTH / 2, _HEIGHT - 26, formula, "bold", "middle")


def _read_below() -> float:
    """The confidence of a first answer below which the bundled model reads its passage."""
    weights = ModelConfig.load(resolve("small")).verification
    assert weights is not None
    return weights["auto_below"]
