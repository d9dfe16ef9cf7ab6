"""A sixth of a byte for each number of a vector: what it has beyond its passage's mean, several numbers in a byte.

A score is a sum of what each byte adds, which is looked up: of rows that a query has for itself that is less work than
decoding them. The upper four bits of a byte are a coarser code of the same numbers, from which candidates are found.
"""

from functools import cache, cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.quantize.base import Codec, IndexCodec, Records, Scorer
from densephrases.quantize.codebooks import VALUES, Codebooks, ProductQuantizer

Bytes = NDArray[np.uint8]

_ONE_THREAD = 1 << 18  # multiplications

# Shape suffixes: B queries, N rows, D vector size, K numbers, F bytes, V values of a byte, G bytes with M numbers each.


class PQCodec(Codec):
    """Codes vectors by some books of a code; `mean_D` is taken off them first."""

    def __init__(self, pq: ProductQuantizer, books: Codebooks, mean_D: Floats) -> None:
        self.product_quantizer = pq
        self.books = books
        self.mean_D = mean_D

    @property
    def dim(self) -> int:
        return len(self.mean_D)

    @property
    def row_type(self) -> np.dtype[Any]:
        return np.dtype([("codes", "u1", (len(self.books.sizes_F),))])

    def encode(self, vectors_ND: NDArray[np.floating[Any]]) -> Records:
        numbers_NK = (np.asarray(vectors_ND, dtype=np.float32) - self.mean_D) @ self.product_quantizer.projection_DK
        ordered_NK = np.asarray(numbers_NK[:, self.books.components_K], dtype=np.float32)
        records_N = np.zeros(len(vectors_ND), dtype=self.row_type)
        for byte, group in enumerate(self.books.groups):
            records_N["codes"][:, byte] = _nearest(ordered_NK[:, group], self.books.centroids_KV[group])
        return records_N

    def decode(self, records_N: Records) -> Floats:
        return np.asarray(
            self.numbers(records_N) @ self.product_quantizer.reconstruction_KD + self.mean_D, dtype=np.float32
        )

    def numbers(self, records_N: Records) -> Floats:
        """What records say (N, K)."""
        return np.asarray(self._values_by_number.take(records_N["codes"][:, self._byte_of] + self._first_values))

    def asked(self, queries_BD: Floats) -> Floats:
        """Queries whose products with numbers are scores but for what the mean scores (B, K)."""
        return _product(np.asarray(queries_BD, dtype=np.float32), self._back_turned)

    def scorer(self, queries_BD: Floats) -> Scorer:
        queries_BK = self.asked(queries_BD)
        mean_B1 = (queries_BD @ self.mean_D)[:, None]
        return lambda records_N: np.asarray(queries_BK @ self.numbers(records_N).T + mean_B1, dtype=np.float32)

    def scorers(self, queries_BD: Floats) -> list[Scorer]:
        """By what each byte adds to a score."""
        added_BFV = self._added(self.asked(queries_BD))
        mean_B = queries_BD @ self.mean_D
        return [_summing(added_FV, mean) for added_FV, mean in zip(added_BFV, mean_B, strict=True)]

    def _added(self, queries_BK: Floats) -> Floats:
        """What each value of each byte adds to scores (B, F, V)."""
        added_BFV = np.empty((len(queries_BK), len(self.books.sizes_F), VALUES), dtype=np.float32)
        for bytes_G, numbers_GM, values_GMV in self._alike:
            added_GBV = np.matmul(queries_BK.T[numbers_GM].swapaxes(1, 2), values_GMV)
            added_BFV[:, bytes_G] = added_GBV.swapaxes(0, 1)
        return added_BFV

    @cached_property
    def _alike(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], Floats]]:
        """Bytes with equally many numbers, these numbers, and what each value says of them: for fewer products."""
        alike = []
        for size in np.unique(self.books.sizes_F).tolist():
            bytes_G = np.flatnonzero(self.books.sizes_F == size)
            places_GM = self._first_number[bytes_G, None] + np.arange(size)
            alike.append((bytes_G, self.books.components_K[places_GM].astype(np.int64), self._values[places_GM]))
        return alike

    @cached_property
    def _first_number(self) -> NDArray[np.int64]:
        """Where each byte's numbers begin in the order of the books."""
        return np.cumsum(self.books.sizes_F, dtype=np.int64) - self.books.sizes_F

    @cached_property
    def _back_turned(self) -> Floats:
        return np.ascontiguousarray(self.product_quantizer.reconstruction_KD.T)

    @cached_property
    def _values(self) -> Floats:
        """What each value of a byte says of its numbers (K, V), in the order of the books."""
        return self.books.centroids_KV * self.books.scale_K[:, None]

    @cached_property
    def _values_by_number(self) -> Floats:
        return np.ascontiguousarray(self._values[np.argsort(self.books.components_K)])

    @cached_property
    def _byte_of(self) -> NDArray[np.int64]:
        """Each number's."""
        bytes_K = np.repeat(np.arange(len(self.books.sizes_F)), self.books.sizes_F)
        return np.asarray(bytes_K[np.argsort(self.books.components_K)])

    @cached_property
    def _first_values(self) -> NDArray[np.uint32]:
        return (VALUES * np.arange(len(self._byte_of))).astype(np.uint32)

    @cached_property
    def branches(self) -> Floats:
        """What the upper four bits of a byte say of its numbers, (K, 16), in the order of the books."""
        return np.asarray(self._values.reshape(len(self._values), 16, VALUES // 16).mean(axis=2))


class ResidualPQCodec(PQCodec, IndexCodec):
    """Of rows less their passage's mean, which `means` codes."""

    def __init__(self, pq: ProductQuantizer) -> None:
        super().__init__(pq, pq.residual, np.zeros_like(pq.mean_D))
        self.means: PQCodec = PQCodec(pq, pq.centroid, pq.mean_D)

    def to_bytes(self) -> bytes:
        """Nothing: the pq is the model's, without which no question can be asked either."""
        return b""

    @classmethod
    def fit(cls, vectors_ND: Floats, pq: ProductQuantizer | None) -> Self:
        return cls(refuse_none(pq))

    @classmethod
    def from_bytes(cls, data: Bytes, dim: int, pq: ProductQuantizer | None) -> Self:
        return cls(refuse_none(pq))


def refuse_none(pq: ProductQuantizer | None) -> ProductQuantizer:
    if pq is None:
        raise ConfigError(
            "quantizer='pq' needs a model with a code of its vectors, which this one lacks; "
            "learn it with `densephrases tune quantizer MODEL DATA`, or take int8."
        )
    return pq


def _nearest(numbers_NM: Floats, centroids_MV: Floats) -> NDArray[np.int64]:
    """The leaf that is nearest to each row's numbers."""
    distances_NV = _product(numbers_NM, -2 * centroids_MV)
    distances_NV += np.square(centroids_MV).sum(axis=0)
    return np.asarray(distances_NV.argmin(axis=1))


def _product(rows_NM: Floats, matrix_MV: Floats) -> Floats:
    """Some rows at a time, so few that OpenBLAS wakes no threads.

    Once woken they keep cores busy for 70 ms, which faiss needs next. And several threads code rows: each of them would
    wake one for every core.
    """
    step = max(_ONE_THREAD // matrix_MV.size, 1)
    if len(rows_NM) <= step:
        return np.asarray(rows_NM @ matrix_MV)
    products_NV = np.empty((len(rows_NM), matrix_MV.shape[1]), dtype=np.float32)
    whole = len(rows_NM) - len(rows_NM) % step
    stacked = rows_NM[:whole].reshape(-1, step, len(matrix_MV))
    np.matmul(stacked, matrix_MV, out=products_NV[:whole].reshape(*stacked.shape[:2], -1))
    np.matmul(rows_NM[whole:], matrix_MV, out=products_NV[whole:])
    return products_NV


def _summing(added_FV: Floats, mean: np.float32) -> Scorer:
    """Scores rows by what each value of each byte adds to the score of the mean."""
    first_F = _first_places(len(added_FV))
    ones_F = np.ones(len(added_FV), dtype=np.float32)  # multiplied with these, rows are added up faster than by sum()

    def scores(records_N: Records) -> Floats:
        codes_NF = records_N.view(np.uint8).reshape(len(records_N), len(first_F))
        return np.asarray(added_FV.take(codes_NF + first_F) @ ones_F + mean)

    return scores


@cache
def _first_places(size: int) -> NDArray[np.unsignedinteger[Any]]:
    """Where the values of each byte begin in a table of all, in as few bits as will do: they are added to all codes."""
    return (VALUES * np.arange(size)).astype(np.min_scalar_type(VALUES * size))
