"""The table of length penalties and the choice among them."""

from pathlib import Path

import numpy as np
import pytest

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage
from densephrases.evaluate.reading import EncodedDataset
from densephrases.evaluate.tune.length_penalty import PENALTIES, LengthRow, choose_penalty, length_table
from densephrases.model.config import ModelConfig
from densephrases.model.encoder import PassageVectors, QuestionVectors
from densephrases.text.passages import Passage

CONFIG = ModelConfig(base="by hand", backbone={"hidden_size": 2})


def one_question() -> EncodedDataset:
    """'red' begins the answer; it ends there too, or with a slightly better score three words later."""
    text = "red green blue grey"
    offsets = np.array([[0, 3], [4, 9], [10, 14], [15, 19]])
    vectors = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.1]], dtype=np.float32)
    passage = PassageVectors(vectors, np.zeros((4, 2), dtype=np.float32), offsets, np.array([3, 3, 3, 3]))
    asked = Question("1", "Which colour?", (GoldAnswer("red", 0),))
    start, end = np.array([[1.0, 0.0]], dtype=np.float32), np.array([[0.0, 1.0]], dtype=np.float32)
    return EncodedDataset(
        [QuestionedPassage(Passage(text), 0, (asked,))], [passage], [(0, asked)], QuestionVectors(start, end), 0
    )


def test_a_penalty_prefers_the_shorter_phrase() -> None:
    none, small, large = length_table(one_question(), CONFIG, [0.0, 0.006, 0.007])
    assert (none.exact_match, none.f1) == (0.0, 40.0)  # 'red green blue grey': one word of four is right
    assert small == LengthRow(0.006, 0.0, 40.0)  # 16 characters more cost 0.096, less than the 0.1 they gain
    assert large == LengthRow(0.007, 100.0, 100.0)


def test_the_default_table_begins_without_a_penalty() -> None:
    assert PENALTIES[0] == 0
    assert [row.penalty for row in length_table(one_question(), CONFIG)] == list(PENALTIES)


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        ([LengthRow(0.0, 50, 60), LengthRow(0.01, 51, 60)], 0.01),
        ([LengthRow(0.0, 50, 60), LengthRow(0.01, 51, 58)], 0.0),
        ([LengthRow(0.0, 50, 60), LengthRow(0.01, 51, 59)], 0.0),
    ],
)
def test_choice_weighs_both_scores_and_prefers_less(rows: list[LengthRow], chosen: float) -> None:
    assert choose_penalty(rows).penalty == chosen


def test_the_bundled_model_carries_its_penalty() -> None:
    from densephrases.model.folders import resolve

    assert ModelConfig.load(Path(resolve("small"))).length_penalty > 0
