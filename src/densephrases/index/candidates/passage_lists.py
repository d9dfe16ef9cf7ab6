"""Inverted lists of a store whose rows are coded beyond their passage's mean: one for each passage.

Means tell which lists are looked into, and rows are compared by the upper four bits of their first bytes. All of that
is in the store already, so that nothing more is on disk: lists are made in memory when an index is opened.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.mapped import release_pages
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.product import PQCodec, ResidualPQCodec

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.integer[Any]]

_VALUES = 16  # of four bits
_VECTOR_NUMBERS_PER_CODE = 12
_BLOCK = 32  # rows that faiss compares at once
_PACKED_ROWS = 1 << 18
_SPREAD_ROWS = 4096
_QUERY_BY_QUERY = 11  # how faiss goes through lists; its own choice, list by list, takes twice as long for one query
_HALF_BLOCK = np.array([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15])  # how faiss orders 16 rows

# Shape suffixes: N rows or queries, B queries, P passages, L lists of a query, K numbers, S numbers that are compared,
# C codes of four bits, M numbers of a pq, V values of a pq, G rows with gaps.


class UpperBits:
    """Codes of four bits, those on top of bytes: of which numbers they tell, and what."""

    def __init__(self, numbers: Sequence[Numbers], values: Sequence[Floats]) -> None:
        """Of each code the numbers (M), and what its values say of them (M, V)."""
        self.codes = len(numbers)
        room = max(map(len, numbers))
        place_CM = np.full((self.codes, room), -1)
        self._value_CVM = np.zeros((self.codes, _VALUES, room), dtype=np.float32)
        for pq, (number_M, value_MV) in enumerate(zip(numbers, values, strict=True)):
            place_CM[pq, : len(number_M)] = number_M
            self._value_CVM[pq, :, : len(number_M)] = value_MV.T
        self._place_S = place_CM.ravel()

    @classmethod
    def of(cls, codec: PQCodec, count: int | None = None, further: Floats | None = None) -> Self:
        """Of the first bytes, or of all, and of one number after the last, of which a further code tells (V)."""
        books = codec.books
        groups = books.groups[:count]
        numbers: list[Numbers] = [books.components_K[group] for group in groups]
        values = [codec.branches[group] for group in groups]
        if further is not None:
            numbers.append(np.array([len(books.components_K)]))
            values.append(further[None])
        return cls(numbers, values)

    def compared(self, asked_BK: Floats) -> Floats:
        """(B, S), with zeros where a code tells of fewer numbers than others."""
        compared_BS = asked_BK.take(np.maximum(self._place_S, 0), axis=1)
        compared_BS[:, self._place_S < 0] = 0
        return np.asarray(compared_BS)

    def empty_lists(self, count: int) -> Any:
        """A faiss index of so many lists, which knows no centres of them."""
        quantizer = faiss.IndexFlatIP(self._place_S.size)
        index = faiss.IndexIVFPQFastScan(
            quantizer, quantizer.d, count, self.codes, 4, faiss.METRIC_INNER_PRODUCT, _BLOCK
        )
        index.by_residual = True
        index.implem = _QUERY_BY_QUERY
        faiss.copy_array_to_vector(self._value_CVM.ravel(), index.pq.centroids)
        index.is_trained = True
        index.referenced_objects = [quantizer]  # else it is freed
        return index


class BitLists:
    """Lists of rows, compared by codes of four bits."""

    def __init__(self, bits: UpperBits, count: int) -> None:
        self._bits = bits
        self.index = bits.empty_lists(count)

    def fill(self, first: int, edges_L: NDArray[np.int64], codes_NC: Bytes) -> None:
        """Neighbouring lists with neighbouring rows; faiss checks neither rows nor codes."""
        lists = faiss.downcast_InvertedLists(self.index.invlists)
        rows_N = np.arange(edges_L[0], edges_L[-1])
        codes = packed(codes_NC, np.diff(edges_L))
        at = 0
        for number, (begin, stop) in enumerate(pairwise((edges_L - edges_L[0]).tolist()), start=first):
            if begin < stop:
                lists.add_entries(number, stop - begin, faiss.swig_ptr(rows_N[begin:]), faiss.swig_ptr(codes[at:]))
                at += -(-(stop - begin) // _BLOCK) * lists.block_size
        self.index.ntotal += len(rows_N)

    def search(
        self, asked_BK: Floats, wanted: int, lists_BL: NDArray[np.int64], scores_BL: Floats, parameters: Any
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Scores and rows (B, wanted) of some lists, whose own scores are added.

        What faiss has for Python to search given lists takes no parameters.
        """
        scores_BN = np.empty((len(asked_BK), wanted), dtype=np.float32)
        rows_BN = np.empty((len(asked_BK), wanted), dtype=np.int64)
        compared_BS = self._bits.compared(asked_BK)
        arrays = [np.ascontiguousarray(array) for array in (compared_BS, lists_BL, scores_BL)]
        asked, lists, scores = map(faiss.swig_ptr, arrays)
        found = faiss.swig_ptr(scores_BN), faiss.swig_ptr(rows_BN)
        self.index.search_preassigned_c(len(asked_BK), asked, wanted, lists, scores, *found, False, parameters)
        return scores_BN, rows_BN


class Ranking:
    """Which lists are looked into: those whose best row is likely to score highest.

    Of n rows the best lies about sqrt(2 ln n) times their spread above their mean. So each query has one number more,
    the spread of scores as it sees rows, and each mean one code more, by how many spreads the best row is above it.
    """

    def __init__(self, store: VectorStore) -> None:
        assert store.means is not None
        means = store.means
        above_P = np.sqrt(2 * np.log(np.maximum(np.diff(means.edges_P), 1))).astype(np.float32)
        levels_V = np.quantile(above_P, (np.arange(_VALUES) + 0.5) / _VALUES).astype(np.float32)
        level_P = np.searchsorted((levels_V[1:] + levels_V[:-1]) / 2, above_P).astype(np.uint8)
        self._spread = _spread(store)
        self._above_P = levels_V[level_P]
        self._means = BitLists(UpperBits.of(means.codec, further=levels_V), 1)
        codes_PC = np.concatenate([means.records_P["codes"] >> 4, level_P[:, None]], axis=1)
        self._means.fill(0, np.array([0, len(codes_PC)]), codes_PC)

    def best(self, asked_BK: Floats, count: int) -> tuple[NDArray[np.int64], Floats]:
        """So many lists of each query, and about what their means score."""
        spread_B1 = self._spread * np.linalg.norm(asked_BK, axis=1, keepdims=True)
        first_B1 = np.zeros((len(asked_BK), 1), dtype=np.int64)
        bounds_BL, lists_BL = self._means.search(
            np.concatenate([asked_BK, spread_B1], axis=1),
            count,
            first_B1,
            first_B1.astype(np.float32),
            faiss.SearchParametersIVF(nprobe=1),
        )
        return lists_BL, bounds_BL - spread_B1 * self._above_P[lists_BL]


def _spread(store: VectorStore) -> float:
    """Of the numbers that rows have beyond their passage's mean."""
    assert isinstance(store.codec, ResidualPQCodec)
    some = np.linspace(0, len(store) - 1, min(len(store), _SPREAD_ROWS)).astype(np.int64)
    return float(np.sqrt(np.square(store.codec.numbers(store.records_N[some])).mean())) if len(some) else 0.0


def passage_lists(store: VectorStore) -> BitLists:
    """All rows, in lists that are passages."""
    assert store.means is not None
    assert isinstance(store.codec, ResidualPQCodec)
    bits = UpperBits.of(store.codec, -(-store.dim // _VECTOR_NUMBERS_PER_CODE))
    edges_P = np.asarray(store.means.edges_P)
    lists = BitLists(bits, len(edges_P) - 1)
    first = 0
    while first < len(edges_P) - 1:
        last = max(int(np.searchsorted(edges_P, edges_P[first] + _PACKED_ROWS, side="right")) - 1, first + 1)
        rows = slice(*edges_P[[first, last]].tolist())
        codes_NC = np.right_shift(store.records_N["codes"][rows, : bits.codes], 4, dtype=np.uint8)
        lists.fill(first, edges_P[first : last + 1], codes_NC)
        first = last
    release_pages(store.records_N)
    return lists


def packed(codes_NC: Bytes, rows_L: NDArray[np.int64]) -> Bytes:
    """Codes as faiss compares them: of 32 rows together, two rows of one code in a byte; each list begins a block."""
    blocks_L = -(-rows_L // _BLOCK)
    gap_L = _BLOCK * (np.cumsum(blocks_L) - blocks_L) - (np.cumsum(rows_L) - rows_L)
    codes = codes_NC.shape[1] + codes_NC.shape[1] % 2
    spaced_GC = np.zeros((_BLOCK * int(blocks_L.sum()), codes), dtype=np.uint8)
    spaced_GC[np.arange(len(codes_NC)) + np.repeat(gap_L, rows_L), : codes_NC.shape[1]] = codes_NC
    blocks = spaced_GC.reshape(-1, _BLOCK, codes)
    pairs = blocks[:, _HALF_BLOCK] | blocks[:, _HALF_BLOCK + _BLOCK // 2] << 4
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).ravel()
