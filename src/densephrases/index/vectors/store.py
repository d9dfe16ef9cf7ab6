"""Token vectors on disk; scores are inner products with what they decode to.

Rows are coded one by one, or as what they have beyond the mean of their passage's rows, which is coded once.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, TypeVar

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.kinds import Quantizer
from densephrases.index.mapped import map_array
from densephrases.model.bulk_encoder import BulkEncoder
from densephrases.quantize.base import IndexCodec, Records, passage_means
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.product import PQCodec, ResidualPQCodec
from densephrases.quantize.scalar import HalfCodec, Int4Quantizer, Int8Quantizer

Rows = NDArray[np.int64]
Result = TypeVar("Result")
RowScorer = Callable[[Rows, Records], Floats]
"""Of rows by number, with their records."""
CODECS: dict[Quantizer, type[IndexCodec]] = {
    "fp16": HalfCodec,
    "int8": Int8Quantizer,
    "int4": Int4Quantizer,
    "pq": ResidualPQCodec,
}

BLOCK_ROWS = 512  # decoded at once: stays in a core's cache, and no product is worth waking other threads for
_THREAD_ROWS = 4096
_KEPT_BYTES = 1 << 25  # of passages' means that are not more when decoded
_THREADS = 4
_OWN_BLOCK_ROWS = 1024  # larger, as they are compared with one query only
_SHARED_ROWS = 16_384  # are scored in a few milliseconds: threads for fewer would not pay

# Shape suffixes: B queries, N rows, P passages, D vector size.


def fit_codec(quantizer: Quantizer, vectors_ND: Floats, pq: ProductQuantizer | None = None) -> IndexCodec:
    return CODECS[quantizer].fit(vectors_ND, pq)


@dataclass(frozen=True, slots=True)
class CodedRows:
    """The next rows of an index, and the means of their passages if rows are coded beyond them."""

    records_N: list[Records]
    means_P: Records

    @classmethod
    def of(cls, vectors_ND: NDArray[np.floating[Any]], rows_P: Rows, codec: IndexCodec) -> Self:
        if codec.means is None:
            return cls(_encoded(vectors_ND, codec), np.zeros(0, dtype=np.uint8))
        means_P = codec.means.encode(passage_means(vectors_ND, rows_P))
        beyond_ND = vectors_ND - np.repeat(codec.means.decode(means_P), rows_P, axis=0)
        return cls(_encoded(beyond_ND, codec), means_P)

    @classmethod
    def by(cls, encoder: BulkEncoder, vectors_ND: NDArray[np.floating[Any]], rows_P: Rows, codec: IndexCodec) -> Self:
        """Coded where they were encoded, if that can be done there."""
        if not isinstance(codec, ResidualPQCodec):
            return cls.of(vectors_ND, rows_P, codec)
        codes = encoder.quantizer(codec.product_quantizer)(vectors_ND, rows_P)
        return cls([_records(codes.rows_RF, codec)], _records(codes.means_PF, codec.means))


def _records(codes_NF: NDArray[np.uint8], codec: PQCodec) -> Records:
    return np.ascontiguousarray(codes_NF).view(codec.row_type).reshape(len(codes_NF))


def _encoded(vectors_ND: NDArray[np.floating[Any]], codec: IndexCodec) -> list[Records]:
    """In blocks, by several threads where there are many."""
    blocks = [vectors_ND[at : at + _THREAD_ROWS] for at in range(0, len(vectors_ND), _THREAD_ROWS)]
    if len(blocks) < 2 * _THREADS:
        return list(map(codec.encode, blocks))
    with ThreadPoolExecutor(_THREADS, "encode") as executor:
        return list(executor.map(codec.encode, blocks))


class PassageMeans:
    """What the rows of each passage have in common; `edges_P` are first rows, one more than passages."""

    def __init__(self, records_P: Records, edges_P: Rows, codec: PQCodec) -> None:
        self.records_P = records_P
        self.edges_P = edges_P
        self.codec = codec

    def passages_of(self, rows_N: Rows) -> Rows:
        return np.asarray(np.searchsorted(self.edges_P, rows_N, side="right") - 1)

    def decode(self, rows_N: Rows) -> Floats:
        passages, mean_N = np.unique(self.passages_of(rows_N), return_inverse=True)
        return self.codec.decode(self.records_P[passages])[mean_N]

    def scorer(self, queries_BD: Floats) -> Callable[[Rows], Floats]:
        """Gives the inner products (B, N) of queries with the means of rows."""
        asked_BK, mean_B1 = self.codec.asked(queries_BD), (queries_BD @ self.codec.mean_D)[:, None]

        def scores(rows_N: Rows) -> Floats:
            passages, mean_N = np.unique(self.passages_of(rows_N), return_inverse=True)
            return np.asarray((asked_BK @ self.numbers(passages).T + mean_B1)[:, mean_N])

        return scores

    def own_scores(self, queries_BD: Floats, rows_N: Rows, edges_B: Rows) -> Floats:
        """Inner products (N) of each query with the means of rows of its own; fastest if these ascend."""
        asked_BK, mean_B = self.codec.asked(queries_BD), queries_BD @ self.codec.mean_D
        passages_N = self.passages_of(rows_N)
        scores_N = np.empty(len(rows_N), dtype=np.float32)
        changes_N = passages_N[1:] != passages_N[:-1]
        for query, (first, stop) in enumerate(pairwise(edges_B.tolist())):
            if first < stop:
                (ends,) = changes_N[first : stop - 1].nonzero()
                runs = np.concatenate([[-1], ends, [stop - first - 1]])
                scores = self.numbers(passages_N[first + runs[1:]]) @ asked_BK[query] + mean_B[query]
                scores_N[first:stop] = scores.repeat(runs[1:] - runs[:-1])
        return scores_N

    def numbers(self, passages_P: Rows) -> Floats:
        if self._decoded is not None:
            return self._decoded.take(passages_P, axis=0)
        return self.codec.numbers(self.records_P[passages_P])

    @cached_property
    def _decoded(self) -> Floats | None:
        """All of them if they are few."""
        few = 4 * len(self.records_P) * len(self.codec.books.components_K) <= _KEPT_BYTES
        return self.codec.numbers(self.records_P) if few else None


class VectorStore:
    """The rows of a segment, memory-mapped or in memory."""

    def __init__(self, records_N: Records, codec: IndexCodec, means: PassageMeans | None = None) -> None:
        assert (means is None) == (codec.means is None)
        self.records_N = records_N
        self.codec = codec
        self.means = means

    @classmethod
    def open(cls, path: Path, codec: IndexCodec, means_path: Path, edges_P: Rows) -> Self:
        """`edges_P` are the first rows of passages, one more than passages."""
        records_N = map_array(path, codec.row_type)
        if codec.means is None:
            return cls(records_N, codec)
        assert isinstance(codec.means, PQCodec)
        return cls(records_N, codec, PassageMeans(map_array(means_path, codec.means.row_type), edges_P, codec.means))

    @classmethod
    def of(cls, vectors_ND: Floats, rows_P: Rows, quantizer: Quantizer, pq: ProductQuantizer | None = None) -> Self:
        """A store in memory, of passages with so many rows each."""
        codec = fit_codec(quantizer, vectors_ND, pq)
        coded = CodedRows.of(vectors_ND, rows_P, codec)
        records_N = np.concatenate([np.zeros(0, dtype=codec.row_type), *coded.records_N])
        if codec.means is None:
            return cls(records_N, codec)
        assert isinstance(codec.means, PQCodec)
        return cls(records_N, codec, PassageMeans(coded.means_P, np.cumsum([0, *rows_P]), codec.means))

    def __len__(self) -> int:
        return len(self.records_N)

    @property
    def dim(self) -> int:
        return self.codec.dim

    def decode(self, rows_N: Rows | slice) -> Floats:
        """The vectors of some rows, as near to what was stored as the quantizer allows."""
        vectors_ND = self.codec.decode(self.records_N[rows_N])
        if self.means is not None:
            vectors_ND += self.means.decode(self._numbered(rows_N))
        return vectors_ND

    def scores(self, rows_N: Rows, query_D: Floats) -> Floats:
        """Inner products of one query with some rows."""
        return np.asarray(self.batch_scores(rows_N, query_D[None])[0])

    def batch_scores(self, rows_N: Rows, queries_BD: Floats) -> Floats:
        """Inner products (B, N) of several queries with the same rows."""
        scores_BN = np.empty((len(queries_BD), len(rows_N)), dtype=np.float32)
        score = self._scorer(queries_BD)
        for first in range(0, len(rows_N), BLOCK_ROWS):
            block = rows_N[first : first + BLOCK_ROWS]
            scores_BN[:, first : first + len(block)] = score(block, self._picked(block))
        return scores_BN

    def own_scores(self, queries_BD: Floats, rows_N: Rows, edges_B: Rows) -> Floats:
        """Inner products (N) of each query with rows of its own, which lie between its edge and the next."""
        scores_N = np.empty(len(rows_N), dtype=np.float32)
        threads = faiss.omp_get_max_threads() if len(rows_N) >= _SHARED_ROWS else 1
        share = -(-len(queries_BD) // threads) or 1

        def score(first: int) -> None:
            queries, edges = queries_BD[first : first + share], edges_B[first : first + share + 1]
            for scorer, (begin, stop) in zip(self.codec.scorers(queries), pairwise(edges.tolist()), strict=True):
                for at in range(begin, stop, _OWN_BLOCK_ROWS):
                    block = slice(at, min(at + _OWN_BLOCK_ROWS, stop))
                    scores_N[block] = scorer(self._picked(rows_N[block]))
            if self.means is not None:
                rows = slice(int(edges[0]), int(edges[-1]))
                scores_N[rows] += self.means.own_scores(queries, rows_N[rows], edges - edges[0])

        side_by_side(score, range(0, len(queries_BD), share))
        return scores_N

    def _picked(self, rows_N: Rows) -> Records:
        """As bytes, which are copied five times as fast as fields."""
        records_N = self.records_N
        return records_N.view(f"V{records_N.itemsize}").take(rows_N).view(records_N.dtype)

    def scan(self, queries_BD: Floats, block_rows: int = BLOCK_ROWS) -> Iterator[tuple[int, Floats]]:
        """Inner products of all queries with all rows: number of the first row and scores (B, N) of each block."""
        score = self._scorer(queries_BD)
        for first in range(0, len(self), block_rows):
            records_N = self.records_N[first : first + block_rows]
            yield first, score(np.arange(first, first + len(records_N)), records_N)

    def _scorer(self, queries_BD: Floats) -> RowScorer:
        scorer = self.codec.scorer(queries_BD)
        if self.means is None:
            return lambda _, records_N: scorer(records_N)
        of_means = self.means.scorer(queries_BD)
        return lambda rows_N, records_N: scorer(records_N) + of_means(rows_N)

    def _numbered(self, rows_N: Rows | slice) -> Rows:
        return np.arange(*rows_N.indices(len(self))) if isinstance(rows_N, slice) else rows_N


def side_by_side(work: Callable[[int], Result], shares: Sequence[int]) -> list[Result]:
    """Each share in a thread of its own, but a single one in this."""
    if len(shares) <= 1:
        return list(map(work, shares))
    with ThreadPoolExecutor(len(shares), "score") as executor:
        return list(executor.map(work, shares))
