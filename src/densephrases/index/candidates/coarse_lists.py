"""Inverted lists of faiss whose rows are compared by codes of four bits, from codebooks of the model."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes, Floats
from densephrases.quantize.product import PQCodec

Components = NDArray[np.integer[Any]]

CODE_VALUES = 16  # of four bits
_PACKED_ROWS = 1 << 18
_BLOCK = 32  # rows that faiss compares at once
_QUERY_BY_QUERY = 11  # the order of the loops in faiss; its default, list by list, takes twice as long for one query
_HALF_BLOCK = np.array([0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15])  # how faiss orders 16 rows

# Shape suffixes: N token vectors (rows), B queries, L lists of a query, K components, S components that are compared,
# C codes of four bits, M components of a code, V values of a code, G rows with gaps.


class CoarseCodebooks:
    """Codebooks of the upper four bits of bytes."""

    def __init__(self, components: Sequence[Components], centroids: Sequence[Floats]) -> None:
        """Of each code its components (M) and the centroids of its values (M, V)."""
        self.codes = len(components)
        room = max(map(len, components))
        component_CM = np.full((self.codes, room), -1)
        self._centroids_CVM = np.zeros((self.codes, CODE_VALUES, room), dtype=np.float32)
        for code, (component_M, centroids_MV) in enumerate(zip(components, centroids, strict=True)):
            component_CM[code, : len(component_M)] = component_M
            self._centroids_CVM[code, :, : len(component_M)] = centroids_MV.T
        self._component_S = component_CM.ravel()

    @classmethod
    def from_codec(cls, codec: PQCodec, extra_V: Floats | None = None) -> Self:
        """`extra_V` are the centroids of one more component after the last."""
        codebooks = codec.codebooks
        components: list[Components] = [codebooks.components_K[group] for group in codebooks.groups]
        centroids = [codec.coarse_centroids[group] for group in codebooks.groups]
        if extra_V is not None:
            components.append(np.array([len(codebooks.components_K)]))
            centroids.append(extra_V[None])
        return cls(components, centroids)

    def compared(self, projected_BK: Floats) -> Floats:
        """The query as faiss compares it (B, S), with zeros where a code has fewer components than others."""
        compared_BS = projected_BK.take(np.maximum(self._component_S, 0), axis=1)
        compared_BS[:, self._component_S < 0] = 0
        return np.asarray(compared_BS)

    def empty_lists(self, count: int) -> Any:
        """A faiss index of `count` lists without centroids."""
        quantizer = faiss.IndexFlatIP(self._component_S.size)
        index = faiss.IndexIVFPQFastScan(
            quantizer, quantizer.d, count, self.codes, 4, faiss.METRIC_INNER_PRODUCT, _BLOCK
        )
        index.by_residual = True
        index.implem = _QUERY_BY_QUERY
        faiss.copy_array_to_vector(self._centroids_CVM.ravel(), index.pq.centroids)
        index.is_trained = True
        index.referenced_objects = [quantizer]  # otherwise it is freed
        return index


class CoarseLists:
    """Lists of rows, compared by codes of four bits."""

    def __init__(self, codebooks: CoarseCodebooks, count: int) -> None:
        self._codebooks = codebooks
        self.index = codebooks.empty_lists(count)

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
        self, projected_BK: Floats, wanted: int, lists_BL: NDArray[np.int64], scores_BL: Floats, parameters: Any
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Scores and rows (B, wanted) of given lists, whose own scores are added.

        The search of given lists that faiss offers to Python takes no parameters, so its C++ method is called.
        """
        scores_BN = np.empty((len(projected_BK), wanted), dtype=np.float32)
        rows_BN = np.empty((len(projected_BK), wanted), dtype=np.int64)
        compared_BS = self._codebooks.compared(projected_BK)
        arrays = [np.ascontiguousarray(array) for array in (compared_BS, lists_BL, scores_BL)]
        queries, lists, scores = map(faiss.swig_ptr, arrays)
        found = faiss.swig_ptr(scores_BN), faiss.swig_ptr(rows_BN)
        self.index.search_preassigned_c(len(projected_BK), queries, wanted, lists, scores, *found, False, parameters)
        return scores_BN, rows_BN


def list_runs(edges_L: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Neighbouring lists, the last exclusive, that together have few enough rows to be packed at once."""
    first = 0
    while first < len(edges_L) - 1:
        fitting = int(np.searchsorted(edges_L, edges_L[first] + _PACKED_ROWS, side="right")) - 1
        last = max(fitting, first + 1)
        yield first, last
        first = last


def packed(codes_NC: Bytes, rows_L: NDArray[np.int64]) -> Bytes:
    """Codes in the layout of faiss: blocks of 32 rows, two rows of one code in a byte; each list begins a block."""
    blocks_L = -(-rows_L // _BLOCK)
    gap_L = _BLOCK * (np.cumsum(blocks_L) - blocks_L) - (np.cumsum(rows_L) - rows_L)
    codes = codes_NC.shape[1] + codes_NC.shape[1] % 2
    spaced_GC = np.zeros((_BLOCK * int(blocks_L.sum()), codes), dtype=np.uint8)
    spaced_GC[np.arange(len(codes_NC)) + np.repeat(gap_L, rows_L), : codes_NC.shape[1]] = codes_NC
    blocks = spaced_GC.reshape(-1, _BLOCK, codes)
    pairs = blocks[:, _HALF_BLOCK] | blocks[:, _HALF_BLOCK + _BLOCK // 2] << 4
    return np.ascontiguousarray(pairs.swapaxes(1, 2)).ravel()
