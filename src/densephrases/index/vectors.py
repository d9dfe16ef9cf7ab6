"""Token vectors on disk, coded row by row; scores are inner products with what the rows decode to."""

import mmap
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self, get_args

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.index.coder import Coder, Floats, Records
from densephrases.index.mixed import MixedCoder
from densephrases.index.scaled import HalfCoder, Int4Coder, Int8Coder
from densephrases.model.statistics import VectorStatistics

Rows = NDArray[np.int64]
Quantizer = Literal["fp16", "int8", "int4", "mixed"]
QUANTIZERS: tuple[Quantizer, ...] = get_args(Quantizer)
CODERS: dict[Quantizer, type[Coder]] = {"fp16": HalfCoder, "int8": Int8Coder, "int4": Int4Coder, "mixed": MixedCoder}

BLOCK_ROWS = 512  # decoded at once: stays in a core's cache, and no product is worth waking other threads for
_THREAD_ROWS = 4096
_THREADS = 4
_OWN_BLOCK_ROWS = 1024  # larger, as they are compared with one query only
_SHARED_ROWS = 16_384  # are scored in a few milliseconds: threads for fewer would not pay

# Shape suffixes: B queries, N rows, D vector size, S numbers of a sketch.


def fit_coder(quantizer: Quantizer, vectors_ND: Floats, statistics: VectorStatistics | None = None) -> Coder:
    return CODERS[quantizer].fit(vectors_ND, statistics)


def encoded_blocks(vectors_ND: NDArray[np.floating[Any]], coder: Coder) -> Iterator[Records]:
    """Some rows at a time, in order, by several threads where there are many."""
    blocks = [vectors_ND[at : at + _THREAD_ROWS] for at in range(0, len(vectors_ND), _THREAD_ROWS)]
    if len(blocks) < 2 * _THREADS:
        yield from map(coder.encode, blocks)
        return
    with ThreadPoolExecutor(_THREADS, "encode") as executor:
        yield from executor.map(coder.encode, blocks)


class VectorStore:
    """The rows of a segment, memory-mapped or in memory."""

    def __init__(self, records_N: Records, coder: Coder) -> None:
        self.records_N = records_N
        self.coder = coder

    @classmethod
    def open(cls, path: Path, coder: Coder) -> Self:
        return cls(map_array(path, coder.row_type), coder)

    @classmethod
    def of(cls, vectors_ND: Floats, quantizer: Quantizer, statistics: VectorStatistics | None = None) -> Self:
        """A store in memory, coded after what its own rows have in common."""
        coder = fit_coder(quantizer, vectors_ND, statistics)
        return cls(coder.encode(vectors_ND), coder)

    def __len__(self) -> int:
        return len(self.records_N)

    @property
    def dim(self) -> int:
        return self.coder.dim

    def decode(self, rows_N: Rows | slice) -> Floats:
        """The vectors of some rows, as near to what was stored as the quantizer allows."""
        return self.coder.decode(self.records_N[rows_N])

    def sketch(self, rows_N: Rows | slice) -> Floats:
        """What a candidate index is made of."""
        return self.coder.sketch(self.records_N[rows_N])

    def scores(self, rows_N: Rows, query_D: Floats) -> Floats:
        """Inner products of one query with some rows."""
        return np.asarray(self.batch_scores(rows_N, query_D[None])[0])

    def batch_scores(self, rows_N: Rows, queries_BD: Floats) -> Floats:
        """Inner products (B, N) of several queries with the same rows."""
        scores_BN = np.empty((len(queries_BD), len(rows_N)), dtype=np.float32)
        score = self.coder.scorer(queries_BD)
        for first in range(0, len(rows_N), BLOCK_ROWS):
            block = rows_N[first : first + BLOCK_ROWS]
            scores_BN[:, first : first + len(block)] = score(self._picked(block))
        return scores_BN

    def own_scores(self, queries_BD: Floats, rows_N: Rows, edges_B: Rows) -> Floats:
        """Inner products (N) of each query with rows of its own, which lie between its edge and the next."""
        scores_N = np.empty(len(rows_N), dtype=np.float32)
        threads = faiss.omp_get_max_threads() if len(rows_N) >= _SHARED_ROWS else 1
        share = -(-len(queries_BD) // threads) or 1

        def score(first: int) -> None:
            edges = pairwise(edges_B[first : first + share + 1].tolist())
            for scorer, (begin, stop) in zip(self.coder.scorers(queries_BD[first : first + share]), edges, strict=True):
                for at in range(begin, stop, _OWN_BLOCK_ROWS):
                    block = slice(at, min(at + _OWN_BLOCK_ROWS, stop))
                    scores_N[block] = scorer(self._picked(rows_N[block]))

        _side_by_side(score, range(0, len(queries_BD), share))
        return scores_N

    def _picked(self, rows_N: Rows) -> Records:
        """As bytes, which are copied five times as fast as fields."""
        records_N = self.records_N
        return records_N.view(f"V{records_N.itemsize}").take(rows_N).view(records_N.dtype)

    def scan(self, queries_BD: Floats, block_rows: int = BLOCK_ROWS) -> Iterator[tuple[int, Floats]]:
        """Inner products of all queries with all rows: number of the first row and scores (B, N) of each block."""
        score = self.coder.scorer(queries_BD)
        for first in range(0, len(self), block_rows):
            yield first, score(self.records_N[first : first + block_rows])


def _side_by_side(work: Callable[[int], None], shares: Sequence[int]) -> None:
    """Each share in a thread of its own, but a single one in this."""
    if len(shares) == 1:
        work(shares[0])
    elif shares:
        with ThreadPoolExecutor(len(shares), "score") as executor:
            list(executor.map(work, shares))  # to raise what one of them raises


def map_array(path: Path, dtype: Any) -> NDArray[Any]:
    """A file of numbers as a read-only array; an empty file, which cannot be mapped, as an empty array."""
    if path.stat().st_size == 0:
        return np.zeros(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)


def release_pages(array: NDArray[Any]) -> None:
    """Give back the memory of what was read from a mapped file; it is read again if need be."""
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and sys.platform != "win32":
        owner.madvise(mmap.MADV_DONTNEED)
