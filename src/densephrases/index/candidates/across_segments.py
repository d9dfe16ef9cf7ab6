"""Clusters of several segments searched as those of one.

Their coarse scores can be compared. So only rows that are among the best of all segments are scored again.
"""

from collections.abc import Sequence

import numpy as np

from densephrases.arrays import Floats, Ints
from densephrases.cores import side_by_side
from densephrases.index.cancellation import Check, go_on
from densephrases.index.candidates.clusters import ClusterCandidates
from densephrases.index.candidates.exact import least_of_best, refuse_effort, rescored
from densephrases.index.candidates.ivf import least_rescored, rescored_share

# Shape suffixes: B queries, K candidates of a query, D vector size.


def search_across(
    several: Sequence[ClusterCandidates],
    queries_BD: Floats,
    k: int,
    effort: float,
    oversample: int = 1,
    check: Check = go_on,
) -> list[tuple[Floats, Ints]]:
    """For each segment scores and rows of at most oversample * k candidates, as `CandidateIndex.search` gives them."""
    refuse_effort(effort)
    total = sum(len(each.store) for each in several)
    wanted = max(least_rescored(total), int(k * rescored_share(effort)))

    def compare(each: ClusterCandidates) -> tuple[Floats, Ints]:
        rows = len(each.store)
        return each.nearest(queries_BD, min(wanted, rows), each.parameters(effort, rows, None), check)

    compared = side_by_side(compare, several)
    least_B = least_of_best(np.concatenate([scores_BK for scores_BK, _ in compared], axis=1), wanted)

    def score(number: int) -> tuple[Floats, Ints]:
        scores_BK, rows_BK = compared[number]
        best_BK = np.where(scores_BK >= least_B[:, None], rows_BK, -1)
        return rescored(several[number].store, queries_BD, best_BK, oversample * k, check)

    return side_by_side(score, range(len(several)))
