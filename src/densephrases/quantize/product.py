"""Product quantization relative to the passage centroid: one 256-entry codebook per byte of a record.

A score is a sum over bytes of table entries. For vectors that a single query is compared with, looking these up is less
work than decoding. The upper four bits of a byte are a coarser code of the same components; candidates are found by it.
"""

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes, Floats, Ints, inner_products
from densephrases.errors import ConfigError
from densephrases.quantize.anisotropic import anisotropic_codes
from densephrases.quantize.base import Codec, IndexCodec, PairScorer, Records, Scorer
from densephrases.quantize.codebooks import VALUES, Codebooks, ProductQuantizer
from densephrases.quantize.nearest import nearest_centroids, product_in_blocks

# Shape suffixes: B queries, N vectors, D vector size, K components, F bytes, V values of a byte, G bytes with M
# components each.


class PQCodec(Codec):
    """Encodes vectors minus `mean_D` with one of the two sets of codebooks of a product quantizer."""

    def __init__(self, pq: ProductQuantizer, codebooks: Codebooks, mean_D: Floats) -> None:
        self.product_quantizer = pq
        self.codebooks = codebooks
        self.mean_D = mean_D

    @property
    def dim(self) -> int:
        return len(self.mean_D)

    @property
    def row_type(self) -> np.dtype[Any]:
        return np.dtype([("codes", "u1", (len(self.codebooks.sizes_F),))])

    def encode(self, vectors_ND: NDArray[np.floating[Any]]) -> Records:
        ordered_NK = self._ordered(vectors_ND - self.mean_D)
        records_N = np.zeros(len(vectors_ND), dtype=self.row_type)
        for byte, group in enumerate(self.codebooks.groups):
            records_N["codes"][:, byte] = nearest_centroids(ordered_NK[:, group], self._scaled_centroids[group])
        return records_N

    def _ordered(self, centred_ND: NDArray[np.floating[Any]]) -> Floats:
        """The components of vectors, in the order of the codebooks."""
        centred_ND = np.asarray(centred_ND, dtype=np.float32)
        components_NK = product_in_blocks(centred_ND, self.product_quantizer.projection_DK)
        return np.asarray(components_NK[:, self.codebooks.components_K], dtype=np.float32)

    def decode(self, records_N: Records) -> Floats:
        components_NK = self.components(records_N)
        return np.asarray(product_in_blocks(components_NK, self.product_quantizer.reconstruction_KD) + self.mean_D)

    def components(self, records_N: Records) -> Floats:
        """The components (N, K) of decoded records."""
        return np.asarray(self._by_component.take(records_N["codes"][:, self._byte_of] + self._first_values))

    def project_queries(self, queries_BD: Floats) -> Floats:
        """Queries (B, K) whose inner products with components are scores, minus the score of `mean_D`."""
        queries_BD = np.asarray(queries_BD, dtype=np.float32)
        return inner_products(self.product_quantizer.reconstruction_KD, queries_BD[:, None])

    def scorer(self, queries_BD: Floats) -> Scorer:
        queries_BK = self.project_queries(queries_BD)
        mean_B1 = (queries_BD @ self.mean_D)[:, None]
        return lambda records_N: np.asarray(queries_BK @ self.components(records_N).T + mean_B1, dtype=np.float32)

    def pair_scorer(self, queries_BD: Floats, projected_BK: Floats | None = None) -> PairScorer:
        """By tables of what each byte adds to a score; `projected_BK` are the projected queries, if they are known."""
        added_BFV = self._added(self.project_queries(queries_BD) if projected_BK is None else projected_BK)
        mean_B = inner_products(queries_BD, self.mean_D)
        size = added_BFV[:1].size
        first_F = VALUES * np.arange(added_BFV.shape[1])
        ones_F = np.ones(added_BFV.shape[1], dtype=np.float32)

        def scores(records_N: Records, query_N: Ints) -> Floats:
            codes_NF = records_N.view(np.uint8).reshape(len(records_N), len(first_F))
            places_NF = codes_NF + (first_F + size * query_N[:, None])
            return np.asarray(inner_products(added_BFV.take(places_NF, mode="clip"), ones_F) + mean_B[query_N])

        return scores

    def _added(self, queries_BK: Floats) -> Floats:
        """What each value of each byte adds to scores (B, F, V)."""
        added_BFV = np.empty((len(queries_BK), len(self.codebooks.sizes_F), VALUES), dtype=np.float32)
        for bytes_G, components_GM, centroids_GMV in self._same_size:
            queries_BGM = queries_BK.take(components_GM, axis=1)
            added_BFV[:, bytes_G] = np.matmul(queries_BGM[:, :, None], centroids_GMV)[:, :, 0]  # query by query
        return added_BFV

    @cached_property
    def _same_size(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], Floats]]:
        """Bytes with equally many components, these, and their centroids: one product for all of them."""
        groups = []
        for size in np.unique(self.codebooks.sizes_F).tolist():
            bytes_G = np.flatnonzero(self.codebooks.sizes_F == size)
            places_GM = self._first_place[bytes_G, None] + np.arange(size)
            components_GM = self.codebooks.components_K[places_GM].astype(np.int64)
            groups.append((bytes_G, components_GM, self._scaled_centroids[places_GM]))
        return groups

    @cached_property
    def _first_place(self) -> NDArray[np.int64]:
        """Where each byte's components begin in the codebooks."""
        return np.cumsum(self.codebooks.sizes_F, dtype=np.int64) - self.codebooks.sizes_F

    @cached_property
    def _scaled_centroids(self) -> Floats:
        """(K, V), in the order of the codebooks."""
        return self.codebooks.centroids_KV * self.codebooks.scale_K[:, None]

    @cached_property
    def _by_component(self) -> Floats:
        """(K, V), in the order of components."""
        return np.ascontiguousarray(self._scaled_centroids[np.argsort(self.codebooks.components_K)])

    @cached_property
    def _byte_of(self) -> NDArray[np.int64]:
        """The byte of each component."""
        bytes_K = np.repeat(np.arange(len(self.codebooks.sizes_F)), self.codebooks.sizes_F)
        return np.asarray(bytes_K[np.argsort(self.codebooks.components_K)])

    @cached_property
    def _first_values(self) -> NDArray[np.uint32]:
        return (VALUES * np.arange(len(self._byte_of))).astype(np.uint32)

    def coarse_codes(self, components_NK: Floats) -> Bytes:
        """The nearest values of four bits for the components of each byte (N, F)."""
        ordered_NK = components_NK[:, self.codebooks.components_K]
        codes_NC = np.empty((len(components_NK), len(self.codebooks.sizes_F)), dtype=np.uint8)
        for byte, group in enumerate(self.codebooks.groups):
            codes_NC[:, byte] = nearest_centroids(ordered_NK[:, group], self.coarse_centroids[group])
        return codes_NC

    @cached_property
    def coarse_centroids(self) -> Floats:
        """Centroids of the upper four bits (K, 16), in the order of the codebooks."""
        centroids_KV = self._scaled_centroids
        return np.asarray(centroids_KV.reshape(len(centroids_KV), 16, VALUES // 16).mean(axis=2))


class ResidualPQCodec(PQCodec, IndexCodec):
    """Encodes token vectors minus the centroid of their passage, which `centroid_codec` encodes."""

    def __init__(self, pq: ProductQuantizer) -> None:
        super().__init__(pq, pq.residual, np.zeros_like(pq.mean_D))
        self.centroid_codec: PQCodec = PQCodec(pq, pq.centroid, pq.mean_D)

    def encode_residuals(self, residuals_ND: Floats, vectors_ND: NDArray[np.floating[Any]]) -> Records:
        """Residuals of these vectors, by codes that lose little of the scores of questions that point their way."""
        records_N = np.zeros(len(residuals_ND), dtype=self.row_type)
        records_N["codes"] = anisotropic_codes(
            self._ordered(residuals_ND),
            self._ordered(vectors_ND - self.product_quantizer.mean_D),
            self.codebooks,
            self._scaled_centroids,
        )
        return records_N

    def to_bytes(self) -> bytes:
        """Nothing: the codebooks belong to the model, which every search needs anyway."""
        return b""

    @classmethod
    def fit(cls, vectors_ND: Floats, pq: ProductQuantizer | None) -> Self:
        return cls(require_pq(pq))

    @classmethod
    def from_bytes(cls, data: Bytes, dim: int, pq: ProductQuantizer | None) -> Self:
        return cls(require_pq(pq))


def require_pq(pq: ProductQuantizer | None) -> ProductQuantizer:
    if pq is None:
        raise ConfigError(
            "quantizer='pq' needs a model with a product quantizer, which this one lacks; "
            "learn it with `densephrases tune quantizer MODEL DATA`, or choose int8."
        )
    return pq


def require_small_pq(pq: ProductQuantizer | None) -> ProductQuantizer:
    small = require_pq(pq).small
    if small is None:
        raise ConfigError(
            "quantizer='pq-small' needs a model with smaller codebooks, which this one lacks; "
            "learn them with `densephrases tune quantizer MODEL DATA`, or choose pq."
        )
    return small
