"""Candidates of small segments: every token vector is scored.

A scan computes products of matrices, whose last digits depend on the other queries and on the threads. So it keeps all
rows that may be among the best up to such an error, and these are scored again, each alone.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints
from densephrases.built_once import BuiltOnce
from densephrases.errors import ConfigError
from densephrases.index.cancellation import Check, go_on
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.index.vectors.store import VectorStore

EXACT_VECTORS = 30_000  # for up to as many a scan is as fast as any other kind
_KEPT_BYTES = 1 << 26  # a store that is not larger when decoded stays decoded
_SCAN_ROWS = 16_384  # between two checks: a tenth of a second for 128 queries
_LOWEST = np.finfo(np.float32).min

# Shape suffixes: B queries, K candidates of a query, N token vectors (rows), D vector size.

Block = tuple[Ints, Floats]
"""Rows (N) and their scores (B, N)."""


class ExactCandidates(CandidateIndex):
    """Compares with every row."""

    exact = True

    def search(
        self,
        queries_BD: Floats,
        k: int,
        allowed: NDArray[np.bool_] | None = None,
        effort: float = DEFAULT_EFFORT,
        oversample: int = 1,
        check: Check = go_on,
    ) -> tuple[Floats, Ints]:
        refuse_effort(effort)
        k = oversample * k
        if allowed is not None and 2 * np.count_nonzero(allowed) < len(allowed):
            return best_of_rows(self.store, queries_BD, k, np.flatnonzero(allowed), check)
        return best_of_blocks(self.store, queries_BD, k, self._blocks(queries_BD, allowed), check)

    def _blocks(self, queries_BD: Floats, allowed: NDArray[np.bool_] | None) -> Iterator[Block]:
        for first, scores_BN in self._scanned(queries_BD):
            rows_N = np.arange(first, first + scores_BN.shape[1])
            if allowed is not None:
                scores_BN[:, ~allowed[rows_N]] = -np.inf
            yield rows_N, scores_BN

    def _scanned(self, queries_BD: Floats) -> Iterator[tuple[int, Floats]]:
        if self._decoded is None:
            yield from self.store.scan(queries_BD, _SCAN_ROWS)
            return
        for first in range(0, len(self._decoded), _SCAN_ROWS):
            yield first, queries_BD @ self._decoded[first : first + _SCAN_ROWS].T

    @BuiltOnce
    def _decoded(self) -> Floats | None:
        small = 4 * len(self.store) * self.store.dim <= _KEPT_BYTES
        return self.store.decode(slice(None)) if small else None


def is_small(vectors: int) -> bool:
    return vectors <= EXACT_VECTORS


def refuse_effort(effort: float) -> None:
    if not 0 <= effort <= 1:
        raise ConfigError(f"effort={effort} is not a number from 0 (fast) to 1 (exact).")


def best_of_rows(
    store: VectorStore, queries_BD: Floats, k: int, rows_N: Ints, check: Check = go_on
) -> tuple[Floats, Ints]:
    """The best of some rows, by their scores in the store."""
    parts = (rows_N[first : first + _SCAN_ROWS] for first in range(0, len(rows_N), _SCAN_ROWS))
    blocks = ((part, store.batch_scores(part, queries_BD)) for part in parts)
    return best_of_blocks(store, queries_BD, k, blocks, check)


def best_of_blocks(
    store: VectorStore, queries_BD: Floats, k: int, blocks: Iterator[Block], check: Check
) -> tuple[Floats, Ints]:
    """The k best of rows that were scored in blocks, by scores that do not depend on the blocks."""
    best = no_candidates(len(queries_BD), 0)
    slack_B = 2 * store.score_error * np.linalg.norm(queries_BD, axis=1)
    for rows_N, scores_BN in blocks:
        check()
        best = _near_best(best, scores_BN, rows_N, k, slack_B)
    return rescored(store, queries_BD, best[1], k, check)


def rescored(
    store: VectorStore, queries_BD: Floats, rows_BK: Ints, k: int, check: Check = go_on
) -> tuple[Floats, Ints]:
    """The k best of each query's own rows, of which those below 0 are none; the lower row first if scores are equal."""
    rows_BK = np.sort(rows_BK, axis=1)  # rows of a passage become neighbours
    most = int(np.count_nonzero(rows_BK >= 0, axis=1).max(initial=0))
    rows_BK = rows_BK[:, rows_BK.shape[1] - most :]
    known_BK = rows_BK >= 0
    edges_B = np.concatenate([[0], known_BK.sum(axis=1).cumsum()])
    scores_BK, _ = no_candidates(*rows_BK.shape)
    scores_BK[known_BK] = store.own_scores(queries_BD, rows_BK[known_BK], edges_B, check)
    lacking = no_candidates(len(queries_BD), max(k - rows_BK.shape[1], 0))
    scores_BK, rows_BK = _joined((scores_BK, rows_BK), lacking)
    order_BK = (-scores_BK).argsort(axis=1, kind="stable")[:, :k]
    query_B1 = np.arange(len(order_BK))[:, None]
    return scores_BK[query_B1, order_BK], rows_BK[query_B1, order_BK]


def no_candidates(queries: int, k: int) -> tuple[Floats, Ints]:
    return np.full((queries, k), -np.inf, dtype=np.float32), np.full((queries, k), -1, dtype=np.int64)


def _near_best(
    best: tuple[Floats, Ints], scores_BN: Floats, rows_N: Ints, k: int, slack_B: Floats
) -> tuple[Floats, Ints]:
    """The k best of both and all that are worse than the last of them by at most the slack, in any order."""
    least_B = least_of_best(best[0], k, slack_B)
    if (least_B == _LOWEST).any():
        least_B = np.maximum(least_B, least_of_best(scores_BN, k, slack_B))
    rows_BN = np.broadcast_to(rows_N, scores_BN.shape)
    scores_BK, rows_BK = _joined(best, _kept(scores_BN, rows_BN, least_B))
    return _kept(scores_BK, rows_BK, least_of_best(scores_BK, k, slack_B))


def _joined(some: tuple[Floats, Ints], others: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    return np.concatenate([some[0], others[0]], axis=1), np.concatenate([some[1], others[1]], axis=1)


def least_of_best(scores_BN: Floats, k: int, slack_B: Floats | float = 0.0) -> Floats:
    """The k-th best score of each query minus its slack, or the lowest number, which is above that of no candidate."""
    if not 0 < k <= scores_BN.shape[1]:
        return np.full(len(scores_BN), _LOWEST if k else np.inf, dtype=np.float32)
    return np.asarray(np.maximum(np.partition(scores_BN, -k, axis=1)[:, -k] - slack_B, _LOWEST))


def _kept(scores_BN: Floats, rows_BN: Ints, least_B: Floats) -> tuple[Floats, Ints]:
    """The candidates of each query that reach its least score, as many columns as needed."""
    reached_BN = scores_BN >= least_B[:, None]
    counts_B = np.count_nonzero(reached_BN, axis=1)
    kept_scores_BK, kept_rows_BK = no_candidates(len(scores_BN), int(counts_B.max(initial=0)))
    query_H, column_H = np.nonzero(reached_BN)
    place_H = np.arange(len(query_H)) - np.repeat(np.cumsum(counts_B) - counts_B, counts_B)
    kept_scores_BK[query_H, place_H] = scores_BN[query_H, column_H]
    kept_rows_BK[query_H, place_H] = rows_BN[query_H, column_H]
    return kept_scores_BK, kept_rows_BK
