"""Measures of ranked lists, as trec_eval defines them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Ranking:
    """Relevance grades of a question's results, best result first, and of what was not found; 0 is not relevant."""

    grades: tuple[int, ...]
    missed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """Percentages, averaged over all questions. `hits_at`: with a relevant result among the first k.

    Recall and nDCG are None where the relevant results that were not found are unknown.
    """

    hits_at: dict[str, float]
    mrr: float
    recall_at: dict[str, float] | None = None
    ndcg_at_10: float | None = None


def retrieval_scores(rankings: Sequence[Ranking], cutoffs: Sequence[int], *, complete: bool) -> RetrievalScores:
    """Of all questions together; `complete` says that all relevant results are known, found or missed."""

    def percent(values: Iterable[float]) -> float:
        return 100 * fmean(values)

    hits_at = {str(k): percent(_has_relevant(ranking, k) for ranking in rankings) for k in cutoffs}
    mrr = percent(map(_reciprocal_rank, rankings))
    if not complete:
        return RetrievalScores(hits_at, mrr)
    recall_at = {str(k): percent(_recall(ranking, k) for ranking in rankings) for k in cutoffs}
    return RetrievalScores(hits_at, mrr, recall_at, percent(_ndcg(ranking, 10) for ranking in rankings))


def _has_relevant(ranking: Ranking, k: int) -> bool:
    return any(grade > 0 for grade in ranking.grades[:k])


def _reciprocal_rank(ranking: Ranking) -> float:
    return next((1 / rank for rank, grade in enumerate(ranking.grades, start=1) if grade > 0), 0.0)


def _recall(ranking: Ranking, k: int) -> float:
    relevant = sum(grade > 0 for grade in (*ranking.grades, *ranking.missed))
    return sum(grade > 0 for grade in ranking.grades[:k]) / relevant if relevant else 0.0


def _ndcg(ranking: Ranking, k: int) -> float:
    ideal = _discounted_gain(sorted((*ranking.grades, *ranking.missed), reverse=True)[:k])
    return _discounted_gain(ranking.grades[:k]) / ideal if ideal else 0.0


def _discounted_gain(grades: Sequence[int]) -> float:
    return sum(grade / log2(rank + 1) for rank, grade in enumerate(grades, start=1))
