"""CandidateIndex of small segments: every token vector is scored."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.index.vectors.store import Rows, VectorStore

_KEPT_BYTES = 1 << 26  # a store that is not larger when decoded stays decoded


_SCAN_ROWS = 16_384


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
    ) -> tuple[Floats, Rows]:
        refuse_effort(effort)
        k = oversample * k
        if allowed is not None and 2 * np.count_nonzero(allowed) < len(allowed):
            return best_of_rows(self.store, queries_BD, k, np.flatnonzero(allowed))
        best = no_candidates(len(queries_BD), k)
        for first, scores_BN in self._blocks(queries_BD):
            if allowed is not None:
                scores_BN[:, ~allowed[first : first + scores_BN.shape[1]]] = -np.inf
            rows_N = np.arange(first, first + scores_BN.shape[1])
            best = better_of(best, scores_BN, rows_N, k)
        return best

    def _blocks(self, queries_BD: Floats) -> Iterator[tuple[int, Floats]]:
        if self._decoded is None:
            yield from self.store.scan(queries_BD, _SCAN_ROWS)
        elif len(self._decoded):
            yield 0, queries_BD @ self._decoded.T

    @cached_property
    def _decoded(self) -> Floats | None:
        small = 4 * len(self.store) * self.store.dim <= _KEPT_BYTES
        return self.store.decode(slice(None)) if small else None


def refuse_effort(effort: float) -> None:
    if not 0 <= effort <= 1:
        raise ConfigError(f"effort={effort} is not a number from 0 (fast) to 1 (exact).")


def best_of_rows(store: VectorStore, queries_BD: Floats, k: int, rows_N: Rows) -> tuple[Floats, Rows]:
    """The best of some rows, by their scores in the store."""
    best = no_candidates(len(queries_BD), k)
    for first in range(0, len(rows_N), _SCAN_ROWS):
        block = rows_N[first : first + _SCAN_ROWS]
        best = better_of(best, store.batch_scores(block, queries_BD), block, k)
    return best


def no_candidates(queries: int, k: int) -> tuple[Floats, Rows]:
    return np.full((queries, k), -np.inf, dtype=np.float32), np.full((queries, k), -1, dtype=np.int64)


def better_of(best: tuple[Floats, Rows], scores_BN: Floats, rows: Rows, k: int) -> tuple[Floats, Rows]:
    """The k best of those known and some more, the lower row first where scores are equal.

    Rows are the same for all queries (N), or each has its own (B, N).
    """
    rows_BN = np.broadcast_to(rows, scores_BN.shape)
    if scores_BN.shape[1] > k:
        chosen_BK = np.argpartition(-scores_BN, k - 1, axis=1)[:, :k] if k else np.zeros((len(scores_BN), 0), np.int64)
        rows_BN = np.take_along_axis(rows_BN, chosen_BK, axis=1)
        scores_BN = np.take_along_axis(scores_BN, chosen_BK, axis=1)
    scores = np.concatenate([best[0], scores_BN], axis=1)
    rows = np.concatenate([best[1], rows_BN], axis=1)
    rows[scores == -np.inf] = -1
    order_BK = np.lexsort((rows, -scores), axis=1)[:, :k]
    return np.take_along_axis(scores, order_BK, axis=1), np.take_along_axis(rows, order_BK, axis=1)
