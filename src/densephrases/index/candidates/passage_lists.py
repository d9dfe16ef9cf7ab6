"""An inverted list for each passage of a store whose token vectors are residuals of passage centroids.

Centroids rank the lists, and rows are compared by the upper four bits of their bytes. All of that is in the store
already, so nothing more is on disk: lists are made in memory when an index is opened.
"""

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.candidates.coarse_lists import (
    CODE_VALUES,
    CoarseCodebooks,
    CoarseLists,
    list_runs,
)
from densephrases.index.files.mapped import release_pages
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.product import ResidualPQCodec

_SPREAD_ROWS = 4096
_ONE_LIST = faiss.SearchParametersIVF(nprobe=1)  # of centroids

# Shape suffixes: N token vectors (rows), B queries, P passages, L lists of a query, K components, S components that are
# compared, C codes of four bits, M components of a code, V values of a code, G rows with gaps.


class PassageRanking:
    """Ranks lists by an upper-bound estimate of the score of their best row.

    Of n rows the best one scores about sqrt(2 ln n) standard deviations above their mean. So each query has one more
    component, the standard deviation of its scores, and each centroid one more code, the number of these deviations.
    """

    def __init__(self, store: VectorStore) -> None:
        assert store.centroids is not None
        centroids = store.centroids
        above_P = np.sqrt(2 * np.log(np.maximum(np.diff(centroids.edges_P), 1))).astype(np.float32)
        levels_V = np.quantile(above_P, (np.arange(CODE_VALUES) + 0.5) / CODE_VALUES).astype(np.float32)
        level_P = np.searchsorted((levels_V[1:] + levels_V[:-1]) / 2, above_P).astype(np.uint8)
        self._spread = _spread(store)
        self._above_P = levels_V[level_P]
        self._centroids = CoarseLists(CoarseCodebooks.from_codec(centroids.codec, extra_V=levels_V), 1)
        codes_PC = np.concatenate([centroids.records_P[:]["codes"] >> 4, level_P[:, None]], axis=1)
        self._centroids.fill(0, np.array([0, len(codes_PC)]), codes_PC)

    def best(self, projected_BK: Floats, count: int) -> tuple[NDArray[np.int64], Floats]:
        """The `count` best lists of each query, and the approximate scores of their centroids."""
        spread_B1 = self._spread * np.sqrt(np.square(projected_BK).sum(axis=1, keepdims=True))
        first_B1 = np.zeros((len(projected_BK), 1), dtype=np.int64)
        bounds_BL, lists_BL = self._centroids.search(
            np.concatenate([projected_BK, spread_B1], axis=1),
            count,
            first_B1,
            first_B1.astype(np.float32),
            _ONE_LIST,
        )
        return lists_BL, bounds_BL - spread_B1 * self._above_P[lists_BL]


def _spread(store: VectorStore) -> float:
    """Standard deviation of the components of residuals, from a sample."""
    assert isinstance(store.codec, ResidualPQCodec)
    some = np.linspace(0, len(store) - 1, min(len(store), _SPREAD_ROWS)).astype(np.int64)
    return float(np.sqrt(np.square(store.codec.components(store.records_N[some])).mean())) if len(some) else 0.0


def passage_lists(store: VectorStore) -> CoarseLists:
    """All rows, in a list for each passage."""
    assert store.centroids is not None
    assert isinstance(store.codec, ResidualPQCodec)
    codebooks = CoarseCodebooks.from_codec(store.codec)
    edges_P = np.asarray(store.centroids.edges_P)
    lists = CoarseLists(codebooks, len(edges_P) - 1)
    for first, last in list_runs(edges_P):
        rows = slice(*edges_P[[first, last]].tolist())
        codes_NC = np.right_shift(store.records_N[rows]["codes"], 4, dtype=np.uint8)
        lists.fill(first, edges_P[first : last + 1], codes_NC)
    release_pages(store.records_N.values)
    return lists
