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
from densephrases.index.vectors import PassageMeans, VectorStore, release_pages

Bytes = NDArray[np.uint8]

_VECTOR_NUMBERS_PER_CODE = 12
_NUMBERS_PER_CODE = 3  # room for those of a byte, and for further ones by which passages are compared
_BLOCK = 32  # rows that faiss compares at once
_PACKED_ROWS = 1 << 18
_HALF_BLOCK = np.array([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15])  # how faiss orders 16 rows

# Shape suffixes: N rows or queries, P passages, K numbers, S numbers that are compared, C codes of four bits,
# G rows with gaps.


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
        return np.ascontiguousarray(np.pad(numbers_NK, ((0, 0), (0, 1)))[:, self._places.ravel()])

    def empty_lists(self, means: PassageMeans) -> Any:
        """A faiss index with the centres of all passages."""
        centres_PS = self.compared(self.coder.means.numbers(means.records_P))
        quantizer = faiss.IndexFlatIP(centres_PS.shape[1])
        quantizer.add(centres_PS)
        index = faiss.IndexIVFPQFastScan(
            quantizer, quantizer.d, len(centres_PS), self.codes, 4, faiss.METRIC_INNER_PRODUCT, _BLOCK
        )
        index.by_residual = True
        faiss.copy_array_to_vector(self._branches.ravel(), index.pq.centroids)
        index.is_trained = True
        index.referenced_objects = [quantizer]  # else it is freed
        return index


def passage_lists(store: VectorStore, comparison: Comparison) -> Any:
    """A faiss index of all rows, whose lists are passages."""
    assert store.means is not None
    index = comparison.empty_lists(store.means)
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
