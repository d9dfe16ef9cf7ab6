"""KILT's measures on cases worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.evaluate.kilt_scores import KiltScores, mean, r_precision, recall_at, scores

ONE = [frozenset("a")]
TWO = [frozenset("ab")]
EITHER = [frozenset("a"), frozenset("b")]


@pytest.mark.parametrize(
    ("ranked", "evidence", "expected"),
    [
        ("a", ONE, 1.0),
        ("ba", ONE, 0.0),  # only the first document counts where one is needed
        ("", ONE, 0.0),
        ("ab", TWO, 1.0),
        ("ba", TWO, 1.0),
        ("acb", TWO, 0.5),
        ("a", TWO, 0.5),
        ("b", EITHER, 1.0),  # the best of the two
        ("a", [], 0.0),
        ("a", [frozenset("ab"), frozenset("a")], 1.0),
    ],
)
def test_r_precision(ranked: str, evidence: list[frozenset[str]], expected: float) -> None:
    assert r_precision(list(ranked), evidence) == expected


@pytest.mark.parametrize(
    ("ranked", "evidence", "k", "expected"),
    [
        ("xya", ONE, 5, 1.0),
        ("xya", ONE, 2, 0.0),
        ("ab", TWO, 1, 1.0),  # two documents of one evidence take one place
        ("axb", TWO, 1, 0.0),  # that of the second: x, then both
        ("axb", TWO, 2, 1.0),
        ("a", TWO, 5, 0.0),
        ("axb", EITHER, 2, 0.5),
        ("axb", EITHER, 3, 1.0),
        ("a", [*ONE, *ONE], 1, 1.0),  # the same evidence twice is one
        ("a", [], 5, 0.0),
        ("ab", [frozenset("ab"), frozenset("a")], 2, 1.0),
    ],
)
def test_recall(ranked: str, evidence: list[frozenset[str]], k: int, expected: float) -> None:
    assert recall_at(list(ranked), evidence, k) == expected


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.lists(st.sampled_from("abcdef"), unique=True, min_size=1))
def test_recall_of_single_documents_is_the_usual_one(ranked: list[str], relevant: list[str]) -> None:
    evidence = [frozenset(document) for document in relevant]
    assert recall_at(ranked, evidence, 3) == len(set(ranked[:3]) & set(relevant)) / len(relevant)


def test_answer_and_evidence_must_both_be_right() -> None:
    right = scores("Paris", ["d1", "d2"], ["Paris", "City of Paris"], [["d1"]])
    assert right == KiltScores(1, 1, 1, 1, 1, 1, 1, 1)
    elsewhere = scores("Paris", ["d2", "d1"], ["Paris"], [["d1"]])
    assert elsewhere == KiltScores(1, 1, 1, 0, 1, 0, 0, 0)


def test_accuracy_takes_answers_as_they_are_written() -> None:
    normal = scores(" the paris ", ["d1"], ["Paris"], [["d1"]])
    assert (normal.accuracy, normal.exact_match, normal.kilt_accuracy, normal.kilt_exact_match) == (0, 1, 0, 1)
    partly = scores("Paris, France", ["d1"], ["Paris"], [["d1"]])
    assert partly.f1 == partly.kilt_f1 == pytest.approx(2 / 3)


def test_no_answer_is_wrong() -> None:
    assert scores("", ["d1"], ["Paris"], [["d1"]]) == KiltScores(0, 0, 0, 1, 1, 0, 0, 0)


def test_mean_is_in_percent() -> None:
    half = mean([KiltScores(*[1.0] * 8), KiltScores(*[0.0] * 8)])
    assert half == KiltScores(*[50.0] * 8)
    assert mean([]) == KiltScores(*[0.0] * 8)
