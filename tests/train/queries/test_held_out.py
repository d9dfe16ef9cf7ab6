"""Questions that are judged by: a part of the others, all of a few, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError
from densephrases.train.queries.held_out import FEWEST, hold_out


def asked(count: int) -> list[OpenQuestion]:
    return [OpenQuestion(str(n), f"question {n}", ("answer",)) for n in range(count)]


@given(st.integers(FEWEST, 3000), st.floats(0.01, 0.9), st.integers(0, 3))
def test_each_question_is_on_one_side(count: int, share: float, seed: int) -> None:
    questions = asked(count)
    learned, judged = hold_out(questions, share, seed)
    assert sorted([*learned, *judged], key=lambda question: int(question.id)) == questions
    assert len(judged) == min(max(round(share * count), 1), 500)
    assert hold_out(questions, share, seed) == (learned, judged)


def test_few_are_judged_by_all_of_them() -> None:
    questions = asked(FEWEST - 1)
    assert hold_out(questions, 0.2, 0) == (questions, questions)


def test_none_if_none_is_wanted() -> None:
    assert hold_out(asked(100), 0.0, 0) == (asked(100), [])


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.0])
def test_impossible_shares(share: float) -> None:
    with pytest.raises(ConfigError, match=r"is no share of the questions; expected at least 0 and below 1"):
        hold_out(asked(30), share, 0)
