"""Passage centroids of a segment whose token vectors are stored as residuals, and scores with them."""

from collections.abc import Callable

import numpy as np

from densephrases.arrays import Floats, Ints, distinct, inner_products, owners
from densephrases.built_once import BuiltOnce
from densephrases.index.files.checked import CheckedArray
from densephrases.quantize.product import PQCodec

_KEPT_BYTES = 1 << 25  # centroids that take no more when decoded stay decoded

# Shape suffixes: B queries, N token vectors, P passages, R runs of rows of one passage, D vector size, K components.


class PassageCentroids:
    """The centroid of each passage; `edges_P` are the first rows of passages, one more than passages."""

    def __init__(self, records_P: CheckedArray, edges_P: Ints, codec: PQCodec) -> None:
        self.records_P = records_P
        self.edges_P = edges_P
        self.codec = codec

    def decode(self, rows_N: Ints) -> Floats:
        """The centroid of each row's passage."""
        passages, passage_N = self._passages(rows_N)
        return self.codec.decode(self.records_P[passages])[passage_N]

    def row_components(self, rows_N: Ints) -> Floats:
        """Those of the centroid of each row's passage (N, K)."""
        passages, passage_N = self._passages(rows_N)
        return np.asarray(self.components(passages)[passage_N])

    def scorer(self, queries_BD: Floats) -> Callable[[Ints], Floats]:
        """Gives the inner products (B, N) of queries with the centroids of rows."""
        projected_BK, mean_B1 = self.codec.project_queries(queries_BD), (queries_BD @ self.codec.mean_D)[:, None]

        def scores(rows_N: Ints) -> Floats:
            passages, passage_N = self._passages(rows_N)
            return np.asarray((projected_BK @ self.components(passages).T + mean_B1)[:, passage_N])

        return scores

    def pair_scorer(self, queries_BD: Floats, projected_BK: Floats) -> Callable[[Ints, Ints], Floats]:
        """Gives the inner products (N) of the centroids of rows with a query each; fastest if its rows ascend.

        Queries are given as they are and as their codec projects them.
        """
        of_passages = self._of_passages(queries_BD, projected_BK)

        def scores(rows_N: Ints, query_N: Ints) -> Floats:
            passages_N = owners(self.edges_P, rows_N)
            changes_N = (passages_N[1:] != passages_N[:-1]) | (query_N[1:] != query_N[:-1])
            first_R = np.concatenate([[0], changes_N.nonzero()[0] + 1])[: len(rows_N)]
            scores_R = of_passages(passages_N[first_R], query_N[first_R])
            return np.asarray(scores_R.repeat(np.diff(first_R, append=len(rows_N))))

        return scores

    def _of_passages(self, queries_BD: Floats, projected_BK: Floats) -> Callable[[Ints, Ints], Floats]:
        """Inner products of some centroids with a query each; of centroids that are not kept decoded, by tables."""
        decoded_PK = self._decoded
        if decoded_PK is None:
            by_tables = self.codec.pair_scorer(queries_BD, projected_BK)
            return lambda passages_N, query_N: by_tables(self.records_P.take(passages_N), query_N)
        mean_B = inner_products(queries_BD, self.codec.mean_D)
        return lambda passages_N, query_N: (
            inner_products(decoded_PK.take(passages_N, axis=0), projected_BK[query_N]) + mean_B[query_N]
        )

    def _passages(self, rows_N: Ints) -> tuple[Ints, Ints]:
        """The passages of rows, each once, and which of them each row is of."""
        return distinct(owners(self.edges_P, rows_N))

    def components(self, passages_P: Ints) -> Floats:
        if self._decoded is not None:
            return self._decoded.take(passages_P, axis=0)
        return self.codec.components(self.records_P[passages_P])

    @BuiltOnce
    def _decoded(self) -> Floats | None:
        """All of them if they are few."""
        few = 4 * len(self.records_P) * len(self.codec.codebooks.components_K) <= _KEPT_BYTES
        return self.codec.components(self.records_P[:]) if few else None
