"""Measures of ranked lists, computed by ir-measures (trec_eval)."""

from collections.abc import Sequence
from dataclasses import dataclass

from densephrases.evaluate.extra import require

_NOT_RELEVANT = {"none": 0}  # a question without judgements would not count


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


def require_measures() -> None:
    require("ir_measures")


def retrieval_scores(rankings: Sequence[Ranking], cutoffs: Sequence[int], *, complete: bool) -> RetrievalScores:
    """Of all questions together; `complete` says that all relevant results are known, found or missed."""
    require_measures()
    from ir_measures import RR, R, Success, calc_aggregate, nDCG

    measures = [RR, *(Success @ k for k in cutoffs)]
    if complete:
        measures += [nDCG @ 10, *(R @ k for k in cutoffs)]
    found = calc_aggregate(measures, _relevant(rankings), _retrieved(rankings))
    percent = {measure: 100 * float(value) for measure, value in found.items()}
    hits_at = {str(k): percent[Success @ k] for k in cutoffs}
    if not complete:
        return RetrievalScores(hits_at, percent[RR])
    recall_at = {str(k): percent[R @ k] for k in cutoffs}
    return RetrievalScores(hits_at, percent[RR], recall_at, percent[nDCG @ 10])


def _relevant(rankings: Sequence[Ranking]) -> dict[str, dict[str, int]]:
    """Grades by question and result; a result is named by its place, a missed one by the places after the last."""
    grades = [{str(place): grade for place, grade in enumerate((*r.grades, *r.missed)) if grade > 0} for r in rankings]
    return {str(question): each or _NOT_RELEVANT for question, each in enumerate(grades)}


def _retrieved(rankings: Sequence[Ranking]) -> dict[str, dict[str, float]]:
    """Scores by question and result, falling with its place."""
    return {
        str(question): {str(place): -float(place) for place in range(len(ranking.grades))}
        for question, ranking in enumerate(rankings)
    }
