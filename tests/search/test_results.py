"""Distinct results and what an answer holds; every unit against brute force is in test_pairs and test_searcher."""

import numpy as np
import pytest

from densephrases.search.passages import PassageTexts
from densephrases.search.request import Unit
from densephrases.search.results import DistinctResults, results_from_phrases
from densephrases.search.scoring.pairs import Phrases

from .made_up import MemoryIndex, SegmentMaker


@pytest.fixture
def texts() -> PassageTexts:
    maker = SegmentMaker(np.random.default_rng(0), keep=1.0)
    maker.add("ada", [["The", "code", "ran.", "The", "code!"]], {})
    return PassageTexts(MemoryIndex([maker.made()], [None]).searchable())


def phrases(*rows: tuple[int, int]) -> Phrases:
    """Best first."""
    start_N, end_N = np.array(rows, dtype=np.int64).T
    scores_N = np.arange(len(rows), 0, -1, dtype=np.float32)
    return Phrases(np.zeros_like(start_N), start_N, end_N, scores_N)


def test_phrases_with_one_normalized_text_are_one_result(texts: PassageTexts) -> None:
    (found,) = DistinctResults(texts, "phrase", 10)([phrases((0, 1), (3, 4), (1, 1), (1, 2))], None)
    assert found.start_N.tolist() == [0, 1], "the others are 'code' again"
    assert found.end_N.tolist() == [1, 2]


@pytest.mark.parametrize(("unit", "expected"), [("sentence", [0, 3]), ("passage", [0]), ("document", [0])])
def test_the_best_phrase_of_each_unit(texts: PassageTexts, unit: Unit, expected: list[int]) -> None:
    (found,) = DistinctResults(texts, unit, 10)([phrases((0, 1), (1, 2), (3, 4))], None)
    assert found.start_N.tolist() == expected


def test_an_answer_knows_its_sentence_and_passage(texts: PassageTexts) -> None:
    (result,) = results_from_phrases(phrases((1, 2)), texts)
    answer = result.answer("phrase", None)
    assert (answer.text, answer.sentence, answer.passage) == ("code ran.", "The code ran.", "The code ran. The code!")
    assert answer.start - answer.sentence_start == 4
    assert answer.confidence is None
