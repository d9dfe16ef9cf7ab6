"""Measures of ranked lists, computed by ir-measures."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from densephrases.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Ranking:
    """How relevant each result of a question is, best result first, and whatever relevant was not found; 0 is not."""

    grades: tuple[int, ...]
    missed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalScores:
    """Percentages, averaged over all questions; `hits_at` of those with a relevant result among the first k.

    Recall and nDCG are None where nobody knows what is relevant beside what was found.
    """

    hits_at: dict[str, float]
    mrr: float
    recall_at: dict[str, float] | None = None
    ndcg_at_10: float | None = None


def require_measures() -> None:
    """To be said before the work, not after it."""
    if find_spec("ir_measures") is None:
        raise MissingExtraError(
            "Measuring what was retrieved needs ir-measures; install it with: pip install 'densephrases[evaluate]'"
        )


def retrieval_scores(rankings: Sequence[Ranking], cutoffs: Sequence[int], *, complete: bool) -> RetrievalScores:
    """Of all questions together; `complete` says that whatever is relevant is known, found or missed."""
    require_measures()
    import ir_measures
    from ir_measures import RR, R, Success, nDCG

    judged, run = {}, {}
    for number, ranking in enumerate(rankings):
        grades = [*ranking.grades, *ranking.missed, 0]  # a question without any judgement would not be counted
        judged[str(number)] = {str(place): grade for place, grade in enumerate(grades)}
        # the library orders results by their scores, and equals by name
        run[str(number)] = {str(place): float(-place) for place in range(len(ranking.grades))}
    measures = [RR, nDCG @ 10, *(measure @ k for k in cutoffs for measure in (Success, R))]
    found = ir_measures.calc_aggregate(measures, judged, run)
    hits_at, recall_at = ({str(k): 100 * found[measure @ k] for k in cutoffs} for measure in (Success, R))
    if not complete:
        return RetrievalScores(hits_at, 100 * found[RR])
    return RetrievalScores(hits_at, 100 * found[RR], recall_at, 100 * found[nDCG @ 10])
