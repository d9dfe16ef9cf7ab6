"""Distinct results; every unit against brute force is in test_pairs and test_searcher."""

import pytest

from densephrases.search.request import Unit
from densephrases.search.selection.distinct_results import DistinctResults

from .one_passage import one_passage, phrases


def test_phrases_with_one_normalized_text_are_one_result() -> None:
    (found,) = DistinctResults(one_passage(), "phrase", 10)([phrases((0, 1), (3, 4), (1, 1), (1, 2))], None)
    assert found.results.start_N.tolist() == [0, 1], "the others are 'code' again"
    assert found.results.end_N.tolist() == [1, 2]
    assert not found.enough


@pytest.mark.parametrize(("unit", "expected"), [("sentence", [0, 3]), ("passage", [0]), ("document", [0])])
def test_the_best_phrase_of_each_unit(unit: Unit, expected: list[int]) -> None:
    (found,) = DistinctResults(one_passage(), unit, 10)([phrases((0, 1), (1, 2), (3, 4))], None)
    assert found.results.start_N.tolist() == expected


@pytest.mark.parametrize(
    ("apart", "expected", "enough"), [(0, [1], True), (1, [1], True), (2, [1, 2], True), (3, [1, 2], False)]
)
def test_more_results_than_wanted_for_another_place(apart: int, expected: list[int], enough: bool) -> None:
    select = DistinctResults(one_passage(), "phrase", 1, apart=apart)
    (found,) = select([phrases((1, 1), (1, 2), (0, 2), (4, 4), (2, 4))], None)
    assert found.results.start_N.tolist() == expected
    assert found.enough == enough
