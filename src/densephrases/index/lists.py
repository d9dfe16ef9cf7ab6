"""Inverted lists of a store whose rows are coded beyond their passage's mean: one for each passage.

A list's centre is the mean and its codes are the upper four bits of the rows' first bytes. All of that is in the store
already, so that nothing more is on disk: lists are made in memory when an index is opened.
"""

from itertools import islice, pairwise
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.index.coder import Floats
from densephrases.index.compact import CompactCoder
from densephrases.index.vectors import VectorStore, release_pages

Bytes = NDArray[np.uint8]

_VECTOR_NUMBERS_PER_CODE = 12
_NUMBERS_PER_CODE = 3  # room for those of a byte, and for further ones by which passages are compared
_BLOCK = 32  # rows that faiss compares at once
_PACKED_ROWS = 1 << 18
_SPREAD_ROWS = 4096
_HALF_BLOCK = np.array([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15])  # how faiss orders 16 rows

# Shape suffixes: N rows or queries, B queries, P passages, L lists of a query, K numbers, S numbers that are compared,
# C codes of four bits, G rows with gaps.


class Comparison:
    """Which numbers are compared: those of the first bytes, byte by byte, with others where there is room."""

    def __init__(self, coder: CompactCoder) -> None:
        books = coder.books
        groups = books.groups[: -(-coder.dim // _VECTOR_NUMBERS_PER_CODE)]
        self.coder = coder
        self.codes = len(groups)
        self.room = max(_NUMBERS_PER_CODE, *(group.stop - group.start for group in groups))
        coded = books.numbers_K[: groups[-1].stop].tolist()
        others = iter(sorted(set(books.numbers_K.tolist()) - set(coded)))
        self._places = np.full((self.codes, self.room), -1)
        self._branches = np.zeros((self.codes, 16, self.room), dtype=np.float32)
        for code, group in enumerate(groups):
            size = group.stop - group.start
            filled = [*books.numbers_K[group].tolist(), *islice(others, self.room - size)]
            self._places[code, : len(filled)] = filled
            self._branches[code, :, :size] = coder.branches[group].T

    def compared(self, numbers_NK: Floats) -> Floats:
        """(N, S), with zeros where there are no numbers left."""
        compared_NS = numbers_NK.take(np.maximum(self._places.ravel(), 0), axis=1)
        compared_NS[:, self._places.ravel() < 0] = 0
        return np.asarray(compared_NS)

    def empty_lists(self, passages: int) -> Any:
        """A faiss index of so many lists, which knows none of their centres: `Ranking` does."""
        quantizer = faiss.IndexFlatIP(self.codes * self.room)
        index = faiss.IndexIVFPQFastScan(
            quantizer, quantizer.d, passages, self.codes, 4, faiss.METRIC_INNER_PRODUCT, _BLOCK
        )
        index.by_residual = True
        faiss.copy_array_to_vector(self._branches.ravel(), index.pq.centroids)
        index.is_trained = True
        index.referenced_objects = [quantizer]  # else it is freed
        return index


class Ranking:
    """Which lists are looked into: those whose best row is likely to score highest.

    Of n rows the best lies about sqrt(2 ln n) times their spread above their mean. So two numbers stand beside those of
    means and queries: how many spreads above it is, and the spread of scores as this query sees rows.
    """

    def __init__(self, store: VectorStore, comparison: Comparison) -> None:
        assert store.means is not None
        means, coder = store.means, comparison.coder
        some = np.linspace(0, len(store) - 1, min(len(store), _SPREAD_ROWS)).astype(np.int64)
        numbers_NK = coder.numbers(store.records_N[some])
        self._comparison = comparison
        self._spread = float(np.sqrt(np.square(numbers_NK).mean())) if len(some) else 0.0
        self._above_P = np.sqrt(2 * np.log(np.maximum(np.diff(means.edges_P), 1))).astype(np.float32)
        centres_PS = comparison.compared(coder.means.numbers(means.records_P))
        self._centres = faiss.IndexFlatIP(centres_PS.shape[1] + 1)
        self._centres.add(np.concatenate([centres_PS, self._above_P[:, None]], axis=1))

    def asked(self, queries_BD: Floats) -> Floats:
        """(B, S + 1)"""
        asked_BK = self._comparison.coder.asked(queries_BD)
        spread_B1 = self._spread * np.linalg.norm(asked_BK, axis=1, keepdims=True)
        return np.concatenate([self._comparison.compared(asked_BK), spread_B1], axis=1)

    def best(self, asked_BS: Floats, count: int) -> tuple[NDArray[np.int64], Floats]:
        """So many lists of each query, and the scores of their means."""
        bounds_BL, lists_BL = self._centres.search(asked_BS, count)
        return lists_BL, bounds_BL - asked_BS[:, -1:] * self._above_P[lists_BL]


def passage_lists(store: VectorStore, comparison: Comparison) -> Any:
    """A faiss index of all rows, whose lists are passages."""
    assert store.means is not None
    index = comparison.empty_lists(len(store.means.records_P))
    lists = faiss.downcast_InvertedLists(index.invlists)
    edges_P = np.asarray(store.means.edges_P)
    first = 0
    while first < len(edges_P) - 1:
        last = max(int(np.searchsorted(edges_P, edges_P[first] + _PACKED_ROWS, side="right")) - 1, first + 1)
        rows = slice(*edges_P[[first, last]].tolist())
        codes_NC = np.right_shift(store.records_N["codes"][rows, : comparison.codes], 4, dtype=np.uint8)
        _fill(lists, first, edges_P[first : last + 1], packed(codes_NC, np.diff(edges_P[first : last + 1])))
        first = last
    release_pages(store.records_N)
    index.ntotal = len(store)
    return index


def search_lists(
    index: Any, asked_BS: Floats, wanted: int, lists_BL: NDArray[np.int64], scores_BL: Floats, parameters: Any
) -> tuple[Floats, NDArray[np.int64]]:
    """Scores and rows (B, wanted) by the codes in some lists; what faiss has for Python takes no parameters."""
    scores_BK = np.empty((len(asked_BS), wanted), dtype=np.float32)
    rows_BK = np.empty((len(asked_BS), wanted), dtype=np.int64)
    arrays = [np.ascontiguousarray(array) for array in (asked_BS, lists_BL, scores_BL)]
    asked, lists, scores = map(faiss.swig_ptr, arrays)
    found = faiss.swig_ptr(scores_BK), faiss.swig_ptr(rows_BK)
    index.search_preassigned_c(len(asked_BS), asked, wanted, lists, scores, *found, False, parameters)
    return scores_BK, rows_BK


def packed(codes_NC: Bytes, rows_P: NDArray[np.int64]) -> Bytes:
    """Codes as faiss compares them: of 32 rows together, two rows of one code in a byte; each list begins a block."""
    blocks_P = -(-rows_P // _BLOCK)
    gap_P = _BLOCK * (np.cumsum(blocks_P) - blocks_P) - (np.cumsum(rows_P) - rows_P)
    codes = codes_NC.shape[1] + codes_NC.shape[1] % 2
    spaced_GC = np.zeros((_BLOCK * int(blocks_P.sum()), codes), dtype=np.uint8)
    spaced_GC[np.arange(len(codes_NC)) + np.repeat(gap_P, rows_P), : codes_NC.shape[1]] = codes_NC
    blocks = spaced_GC.reshape(-1, _BLOCK, codes)
    pairs = blocks[:, _HALF_BLOCK] | blocks[:, _HALF_BLOCK + _BLOCK // 2] << 4
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).ravel()


def _fill(lists: Any, first: int, edges_P: NDArray[np.int64], codes: Bytes) -> None:
    """Give faiss the rows and codes of neighbouring lists; neither is checked there."""
    rows_N = np.arange(edges_P[0], edges_P[-1])
    at = 0
    for number, (begin, stop) in enumerate(pairwise((edges_P - edges_P[0]).tolist()), start=first):
        if begin < stop:
            lists.add_entries(number, stop - begin, faiss.swig_ptr(rows_N[begin:]), faiss.swig_ptr(codes[at:]))
            at += -(-(stop - begin) // _BLOCK) * lists.block_size
