"""Exact match and F1 on cases worked by hand after the rules of the official SQuAD scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1, normalize_answer


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("an apple a day", "apple day"),
        ("theatre another Athens banana", "theatre another athens banana"),  # articles within words stay
        ("U.S.A.", "usa"),
        ("A.", ""),  # punctuation goes first, so that the article stands alone
        ("a.b", "ab"),
        ("the-end", "theend"),
        ("  many \t\n spaces  ", "many spaces"),
        ("$1.3 billion!", "13 billion"),
        ("1997\u201398", "1997\u201398"),  # an en dash is no ASCII punctuation
        ("“quoted”", "“quoted”"),
        ("ÅNGSTRÖM", "ångström"),
        ("中文。", "中文。"),
        ("no\u00a0break", "no break"),
        ("", ""),
        ("the", ""),
        ("?!", ""),
    ],
)
def test_normalize_answer(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


@pytest.mark.parametrize(
    ("prediction", "gold", "em", "expected_f1"),
    [
        ("Denver Broncos", "Denver Broncos", 1, 1),
        ("the denver broncos.", "Denver Broncos", 1, 1),
        ("Broncos", "Denver Broncos", 0, 2 / 3),
        ("Denver Broncos team", "Denver Broncos", 0, 4 / 5),
        ("Broncos Denver", "Denver Broncos", 0, 1),  # order does not count for F1
        ("Carolina Panthers", "Denver Broncos", 0, 0),
        ("new york new york", "new york", 0, 2 / 3),  # a token counts as often as both have it
        ("new new", "new york new", 0, 4 / 5),
        ("theatre", "the atre", 0, 0),
        ("Zürich", "zürich", 1, 1),
        ("Zurich", "Zürich", 0, 0),
        ("", "Denver", 0, 0),
        ("Denver", "", 0, 0),
        # Where nothing is left of either, version 1.1 of the script gives F1 0 (no common token) and version 2.0
        # gives 1; we follow 2.0, so that an exact match is never worth less by F1.
        ("", "", 1, 1),
        ("the", "a", 1, 1),
        ("the", "...", 1, 1),
    ],
)
def test_metrics(prediction: str, gold: str, em: float, expected_f1: float) -> None:
    assert exact_match(prediction, gold) == em
    assert f1(prediction, gold) == pytest.approx(expected_f1)


ANSWERS = st.lists(st.sampled_from(["a", "the", "x", "Y.", "z", "é"]), max_size=5).map(" ".join)


@given(ANSWERS, ANSWERS)
def test_f1_is_symmetric_and_no_less_than_exact_match(one: str, other: str) -> None:
    assert f1(one, other) == f1(other, one)
    assert 0 <= exact_match(one, other) <= f1(one, other) <= 1


def test_best_gold_counts() -> None:
    gold_texts = ["Denver", "the Broncos", "Denver Broncos"]
    assert best_over_answers(exact_match, "broncos", gold_texts) == 1
    assert best_over_answers(f1, "Denver Broncos team", gold_texts) == pytest.approx(4 / 5)
