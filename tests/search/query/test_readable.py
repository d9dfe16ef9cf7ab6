"""Questions that are refused."""

from typing import Any

import pytest

from densephrases.errors import DataError
from densephrases.search.query.readable import checked_questions


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (7, "questions=7 is neither"),
        (["a", " "], "Question 2 is ' '"),
        (["a", None], "Question 2 is None"),
        (["\udcff"], "which is not Unicode"),
    ],
)
def test_refused(questions: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        checked_questions(questions)


def test_the_others_are_kept() -> None:
    assert checked_questions(("a", "b")) == ["a", "b"]
