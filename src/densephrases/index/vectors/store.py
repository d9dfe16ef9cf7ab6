"""Token vectors on disk; a score is the inner product of a query with a decoded vector.

Each vector is encoded by itself, or as its residual relative to the centroid of its passage.
"""

from collections.abc import Callable, Iterator
from typing import Self

import numpy as np

from densephrases.arrays import Floats, Ints
from densephrases.built_once import BuiltOnce
from densephrases.cores import cores, side_by_side
from densephrases.index.cancellation import Check, go_on
from densephrases.index.files.checked import CheckedArray
from densephrases.index.kinds import Quantizer
from densephrases.index.vectors.centroids import PassageCentroids
from densephrases.index.vectors.encoded import EncodedVectors, fit_codec
from densephrases.quantize.base import IndexCodec, Records
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.product import PQCodec

RowScorer = Callable[[Ints, Records], Floats]
"""Scores of rows by their numbers and records."""

BLOCK_ROWS = 512  # decoded at once: they stay in a core's cache, and no product is large enough to wake other threads
_OWN_BLOCK_ROWS = 2048  # larger, as each is compared with one query only
_SHARED_ROWS = 16_384  # are scored in a few milliseconds: threads for fewer would not pay
_NORM_ROWS = 4096  # of which the largest norm is taken
_ROUNDING = 2.0**-22  # of a sum of 32-bit floats, for each number added; twice as large as it can be

# Shape suffixes: B queries, N token vectors (rows), P passages, D vector size.


class VectorStore:
    """The token vectors of a segment, memory-mapped or in memory."""

    def __init__(self, records_N: CheckedArray, codec: IndexCodec, centroids: PassageCentroids | None = None) -> None:
        assert (centroids is None) == (codec.centroid_codec is None)
        self.records_N = records_N
        self.codec = codec
        self.centroids = centroids

    @classmethod
    def from_vectors(
        cls, vectors_ND: Floats, rows_P: Ints, quantizer: Quantizer, pq: ProductQuantizer | None = None
    ) -> Self:
        """A store in memory; `rows_P` says how many vectors each passage has."""
        codec = fit_codec(quantizer, vectors_ND, pq)
        encoded = EncodedVectors.by_codec(vectors_ND, rows_P, codec)
        records_N = CheckedArray(np.concatenate([np.zeros(0, dtype=codec.row_type), *encoded.records_N]))
        if codec.centroid_codec is None:
            return cls(records_N, codec)
        return cls.with_centroids(records_N, codec, CheckedArray(encoded.centroids_P), np.cumsum([0, *rows_P]))

    @classmethod
    def with_centroids(
        cls, records_N: CheckedArray, codec: IndexCodec, centroids_P: CheckedArray, edges_P: Ints
    ) -> Self:
        """Of a codec with centroids; `edges_P` are the first rows of passages, one more than passages."""
        assert isinstance(codec.centroid_codec, PQCodec)
        return cls(records_N, codec, PassageCentroids(centroids_P, edges_P, codec.centroid_codec))

    def __len__(self) -> int:
        return len(self.records_N)

    @property
    def dim(self) -> int:
        return self.codec.dim

    def decode(self, rows_N: Ints | slice) -> Floats:
        """The vectors of some rows, up to the quantizer's error."""
        vectors_ND = self.codec.decode(self.records_N[rows_N])
        if self.centroids is not None:
            vectors_ND += self.centroids.decode(self._numbered(rows_N))
        return vectors_ND

    def batch_scores(self, rows_N: Ints, queries_BD: Floats) -> Floats:
        """Inner products (B, N) of several queries with the same rows."""
        scores_BN = np.empty((len(queries_BD), len(rows_N)), dtype=np.float32)
        score = self._scorer(queries_BD)
        for first in range(0, len(rows_N), BLOCK_ROWS):
            block = rows_N[first : first + BLOCK_ROWS]
            scores_BN[:, first : first + len(block)] = score(block, self.records_N.take(block))
        return scores_BN

    @BuiltOnce
    def score_error(self) -> float:
        """How far scores of a row may be apart if computed in different ways, relative to the norm of the query."""
        some = np.linspace(0, len(self) - 1, min(len(self), _NORM_ROWS)).astype(np.int64)
        norms_N = np.linalg.norm(self.decode(some), axis=1)
        return float(_ROUNDING * (self.dim + 16) * norms_N.max(initial=0.0))

    def own_scores(self, queries_BD: Floats, rows_N: Ints, edges_B: Ints, check: Check = go_on) -> Floats:
        """Inner products (N) of each query with rows of its own, which lie between its edge and the next.

        Each depends on the query and the row alone, to the last digit.
        """
        scores_N = np.empty(len(rows_N), dtype=np.float32)
        threads = cores() if len(rows_N) >= _SHARED_ROWS else 1
        share = -(-len(queries_BD) // threads) or 1

        def score(first: int) -> None:
            queries, edges = queries_BD[first : first + share], edges_B[first : first + share + 1]
            query_N, begin = np.repeat(np.arange(len(queries)), np.diff(edges)), int(edges[0])
            score_pairs = self._pair_scorer(queries)
            for at in range(0, len(query_N), _OWN_BLOCK_ROWS):
                check()
                block = rows_N[begin + at : begin + at + _OWN_BLOCK_ROWS][: len(query_N) - at]
                scores_N[begin + at : begin + at + len(block)] = score_pairs(block, query_N[at : at + len(block)])

        side_by_side(score, range(0, len(queries_BD), share))
        return scores_N

    def scan(self, queries_BD: Floats, block_rows: int = BLOCK_ROWS) -> Iterator[tuple[int, Floats]]:
        """Inner products of all queries with all rows: number of the first row and scores (B, N) of each block."""
        score = self._scorer(queries_BD)
        for first in range(0, len(self), block_rows):
            records_N = self.records_N[first : first + block_rows]
            yield first, score(np.arange(first, first + len(records_N)), records_N)

    def _pair_scorer(self, queries_BD: Floats) -> Callable[[Ints, Ints], Floats]:
        if self.centroids is None:
            score_pairs = self.codec.pair_scorer(queries_BD)
            return lambda rows_N, query_N: score_pairs(self.records_N.take(rows_N), query_N)
        assert isinstance(self.codec, PQCodec)
        projected_BK = self.codec.project_queries(queries_BD)
        score_pairs = self.codec.pair_scorer(queries_BD, projected_BK)
        of_centroids = self.centroids.pair_scorer(queries_BD, projected_BK)
        return lambda rows_N, query_N: score_pairs(self.records_N.take(rows_N), query_N) + of_centroids(rows_N, query_N)

    def _scorer(self, queries_BD: Floats) -> RowScorer:
        scorer = self.codec.scorer(queries_BD)
        if self.centroids is None:
            return lambda _, records_N: scorer(records_N)
        of_centroids = self.centroids.scorer(queries_BD)
        return lambda rows_N, records_N: scorer(records_N) + of_centroids(rows_N)

    def _numbered(self, rows_N: Ints | slice) -> Ints:
        return np.arange(*rows_N.indices(len(self))) if isinstance(rows_N, slice) else rows_N
