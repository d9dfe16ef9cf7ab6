"""Samples of training questions. Whole runs from files: tests/train/test_fit.py."""

import pytest

from densephrases.errors import ConfigError
from densephrases.train.fit import open_questions
from densephrases.train.queries.recipe import sample_questions


def test_questions_are_drawn_alike_for_a_seed() -> None:
    asked = open_questions([f"question {n}" for n in range(50)], ["a"] * 50)
    assert sample_questions(asked, None, 1) == sample_questions(asked, 50, 1) == asked
    assert sample_questions(asked, 5, 1) == sample_questions(asked, 5, 1) != sample_questions(asked, 5, 2)
    assert len({question.id for question in sample_questions(asked, 20, 3)}) == 20
    assert sample_questions(asked, 5, 1) == sample_questions(asked, 20, 1)[:5], "more questions are the same and others"
    with pytest.raises(ConfigError, match="limit=0"):
        sample_questions(asked, 0, 1)
