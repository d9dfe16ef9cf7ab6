"""Measures of ranked lists, worked by hand."""

from math import log2

import pytest

from densephrases.evaluate.retrieval import Ranking, RetrievalScores, retrieval_scores


def test_every_question_counts() -> None:
    rankings = [Ranking((0, 1, 1)), Ranking((1,)), Ranking(()), Ranking((0, 0), missed=(1, 1))]
    found = retrieval_scores(rankings, [1, 2], complete=True)
    assert found.hits_at == {"1": 25.0, "2": 50.0}
    assert found.mrr == pytest.approx(100 * (1 / 2 + 1) / 4)
    assert found.recall_at == {"1": 25.0, "2": pytest.approx(100 * (1 / 2 + 1) / 4)}


def test_order_is_that_of_the_results() -> None:
    """Eleven results: by name, '10' would come before '2'."""
    found = retrieval_scores([Ranking((*[0] * 10, 1))], [10, 20], complete=False)
    assert found.hits_at == {"10": 0.0, "20": 100.0}
    assert found.mrr == pytest.approx(100 / 11)
    assert (found.recall_at, found.ndcg_at_10) == (None, None)


def test_ndcg_is_that_of_trec_eval() -> None:
    """The gain of a result is its grade, discounted by log2(place + 1), beside the ten best grades in their order."""
    grades, missed = (0, 1, 3, 0, 2, *[0] * 5, 3), (2, 1)
    gained = 1 / log2(3) + 3 / log2(4) + 2 / log2(6)
    ideal = sum(grade / log2(place + 1) for place, grade in enumerate((3, 3, 2, 2, 1, 1), start=1))
    found = retrieval_scores([Ranking(grades, missed)], [1], complete=True)
    assert found.ndcg_at_10 == pytest.approx(100 * gained / ideal)


def test_the_ideal_ends_at_ten() -> None:
    found = retrieval_scores([Ranking((1,) * 10, missed=(1, 1))], [10], complete=True)
    assert found.ndcg_at_10 == pytest.approx(100)
    assert found.recall_at == pytest.approx({"10": 100 * 10 / 12})


@pytest.mark.parametrize("nothing", [Ranking(()), Ranking((), missed=(1,)), Ranking((0, 0)), Ranking((0,), (0,))])
def test_questions_without_a_relevant_result_count_as_nothing(nothing: Ranking) -> None:
    alone = retrieval_scores([nothing], [1, 5], complete=True)
    assert alone == RetrievalScores({"1": 0.0, "5": 0.0}, 0.0, {"1": 0.0, "5": 0.0}, 0.0)
    beside_another = retrieval_scores([nothing, Ranking((1,))], [1, 5], complete=True)
    assert beside_another == RetrievalScores({"1": 50.0, "5": 50.0}, 50.0, {"1": 50.0, "5": 50.0}, 50.0)
