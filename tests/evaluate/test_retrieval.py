"""What ir-measures is asked, on lists worked by hand."""

import pytest

from densephrases.errors import MissingExtraError
from densephrases.evaluate import retrieval
from densephrases.evaluate.retrieval import Ranking, require_measures, retrieval_scores


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


def test_grades_count_for_ndcg() -> None:
    best, worse = (retrieval_scores([Ranking(g)], [1], complete=True).ndcg_at_10 for g in ((2, 1), (1, 2)))
    assert best == pytest.approx(100)
    assert worse is not None
    assert worse < 99


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'densephrases\[evaluate\]'"):
        require_measures()
