"""What right answers say of phrases and passages."""

import pytest
from hypothesis import given

from densephrases.data.matching.gold_answers import gold_answers_of, squeeze
from densephrases.data.questions import OpenQuestion
from tests.data.matching.test_answer_scan import ANSWERS, TEXTS, found_in

TEXT = OpenQuestion("1", "who?", ("The King", "Bob"))
PATTERN = OpenQuestion("1", "who?", ("Kings?", "B.b"), regex=True)
UNKNOWN = OpenQuestion("1", "who?", ())


@pytest.mark.parametrize(
    ("question", "phrase", "right", "f1"),
    [
        (TEXT, "king", True, 1.0),
        (TEXT, "king Bob", False, 2 / 3),
        (PATTERN, "kings of old", True, 1.0),
        (PATTERN, "the king", False, 0.0),
        (UNKNOWN, "king", False, 0.0),
    ],
)
def test_phrases(question: OpenQuestion, phrase: str, right: bool, f1: float) -> None:
    gold = gold_answers_of(question, 20)
    assert gold.right(phrase) is right
    assert gold.f1(phrase) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("question", "passage", "stands"),
    [
        (TEXT, "Long live the king-to-be", True),
        (TEXT, "kingdom of Bo b", False),
        (PATTERN, "a King", True),
        (PATTERN, "aking", False),
        (UNKNOWN, "a King", False),
        (OpenQuestion("1", "which letter?", ("\u03a3",)), "Paris.\u03a3", True),  # whose small form is another there
    ],
)
def test_passages(question: OpenQuestion, passage: str, stands: bool) -> None:
    assert gold_answers_of(question, 20).occur_in(passage, squeeze(passage)) is stands


@given(ANSWERS, TEXTS)
def test_the_quick_look_leaves_nothing_out(answer: str, text: str) -> None:
    gold = gold_answers_of(OpenQuestion("1", "who?", (answer,)), 20)
    assert gold.occur_in(text, squeeze(text)) is bool(found_in([answer], text))
