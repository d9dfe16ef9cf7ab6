"""Measures of ranked lists, computed by ranx."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import MissingExtraError

# Shape suffixes: Q questions, R results, 2 a result's name and its value.

_NO_RESULT = (-1, 0)  # fills short lists: a name that no result has


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
    if find_spec("ranx") is None:
        raise MissingExtraError(
            "Measuring what was retrieved needs ranx; install it with: pip install 'densephrases[evaluate]'"
        )


def retrieval_scores(rankings: Sequence[Ranking], cutoffs: Sequence[int], *, complete: bool) -> RetrievalScores:
    """Of all questions together; `complete` says that whatever is relevant is known, found or missed."""
    require_measures()
    from ranx import evaluate

    names = ["mrr", *(f"hit_rate@{k}" for k in cutoffs)]
    if complete:
        names += ["ndcg@10", *(f"recall@{k}" for k in cutoffs)]
    # As arrays: for dictionaries ranx compiles half a minute longer, and it takes no list that is empty.
    found = evaluate(_relevant(rankings), _retrieved(rankings), names)
    percent = {name: 100 * float(value) for name, value in found.items()}
    hits_at = {str(k): percent[f"hit_rate@{k}"] for k in cutoffs}
    if not complete:
        return RetrievalScores(hits_at, percent["mrr"])
    recall_at = {str(k): percent[f"recall@{k}"] for k in cutoffs}
    return RetrievalScores(hits_at, percent["mrr"], recall_at, percent["ndcg@10"])


def _relevant(rankings: Sequence[Ranking]) -> NDArray[np.float64]:
    """Names and grades of what should be found, the best grade first, since ranx takes their order for the ideal."""
    graded = [enumerate((*ranking.grades, *ranking.missed)) for ranking in rankings]
    return _padded([sorted((pair for pair in pairs if pair[1] > 0), key=lambda pair: -pair[1]) for pairs in graded])


def _retrieved(rankings: Sequence[Ranking]) -> NDArray[np.float64]:
    """Names and scores of what was found, which are its places; ranx keeps the order of arrays."""
    return _padded([[(place, -place) for place in range(len(ranking.grades))] for ranking in rankings])


def _padded(lists: Sequence[Sequence[tuple[int, int]]]) -> NDArray[np.float64]:
    values_QR2 = np.full((len(lists), max(map(len, lists)), 2), _NO_RESULT, dtype=np.float64)
    for values_R2, pairs in zip(values_QR2, lists, strict=True):
        if pairs:
            values_R2[: len(pairs)] = pairs
    return values_QR2
