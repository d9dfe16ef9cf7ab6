"""Token vectors as they are stored: the codec of an index, and batches of vectors encoded by it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints
from densephrases.index.kinds import Quantizer
from densephrases.model.bulk_encoder import BulkEncoder
from densephrases.quantize.base import IndexCodec, Records, passage_centroids
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.product import PQCodec, ResidualPQCodec
from densephrases.quantize.scalar import HalfCodec, Int4Quantizer, Int8Quantizer

CODECS: dict[Quantizer, type[IndexCodec]] = {
    "fp16": HalfCodec,
    "int8": Int8Quantizer,
    "int4": Int4Quantizer,
    "pq": ResidualPQCodec,
    "pq-small": ResidualPQCodec,
}

_BLOCK = 4096  # vectors, encoded at once
_THREADS = 4

# Shape suffixes: N token vectors, P passages, D vector size, F bytes of a record.


def fit_codec(quantizer: Quantizer, vectors_ND: Floats, pq: ProductQuantizer | None = None) -> IndexCodec:
    return CODECS[quantizer].fit(vectors_ND, pq)


@dataclass(frozen=True, slots=True)
class EncodedVectors:
    """Records of the next token vectors of an index, and of their passages' centroids if the codec has any."""

    records_N: list[Records]
    centroids_P: Records

    @classmethod
    def by_codec(cls, vectors_ND: NDArray[np.floating[Any]], rows_P: Ints, codec: IndexCodec) -> Self:
        """`rows_P` says how many vectors each passage has."""
        if not isinstance(codec, ResidualPQCodec):
            return cls(_encoded(codec.encode, vectors_ND), np.zeros(0, dtype=np.uint8))
        centroids_P = codec.centroid_codec.encode(passage_centroids(vectors_ND, rows_P))
        residuals_ND = vectors_ND - np.repeat(codec.centroid_codec.decode(centroids_P), rows_P, axis=0)
        return cls(_encoded(codec.encode_residuals, residuals_ND, vectors_ND), centroids_P)

    @classmethod
    def by_encoder(
        cls, encoder: BulkEncoder, vectors_ND: NDArray[np.floating[Any]], rows_P: Ints, codec: IndexCodec
    ) -> Self:
        """On the encoder's device, if the codec is a product quantizer."""
        if not isinstance(codec, ResidualPQCodec):
            return cls.by_codec(vectors_ND, rows_P, codec)
        codes = encoder.quantizer(codec.product_quantizer)(vectors_ND, rows_P)
        return cls([_records(codes.rows_RF, codec)], _records(codes.means_PF, codec.centroid_codec))


def _records(codes_NF: NDArray[np.uint8], codec: PQCodec) -> Records:
    return np.ascontiguousarray(codes_NF).view(codec.row_type).reshape(len(codes_NF))


def _encoded(encode: Callable[..., Records], *vectors_ND: NDArray[np.floating[Any]]) -> list[Records]:
    """In blocks, by several threads if there are many."""
    blocks = [[each[at : at + _BLOCK] for each in vectors_ND] for at in range(0, len(vectors_ND[0]), _BLOCK)]
    if len(blocks) < 2 * _THREADS:
        return [encode(*block) for block in blocks]
    with ThreadPoolExecutor(_THREADS, "encode") as executor:
        return [*executor.map(lambda block: encode(*block), blocks)]
