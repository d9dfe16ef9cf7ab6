"""Encoding many passages at once on a GPU, which computes while other threads prepare and write."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densephrases.model.encoder import Encoder
from densephrases.model.packing import PackedPassages, Packing
from densephrases.quantize.codebooks import ProductQuantizer

# Shape suffixes: R tokens that are kept, P passages, D vector size, F bytes of a code.


@dataclass(frozen=True, slots=True)
class KeptVectors:
    """The numbers of the tokens that pass the filter, and their vectors in float32 or float16."""

    kept_R: NDArray[np.int64]
    vectors_RD: NDArray[np.floating[Any]]


class PQCodes(NamedTuple):
    """Codes of token vectors relative to the centroid of their passage, and codes of these centroids."""

    rows_RF: NDArray[np.uint8]
    means_PF: NDArray[np.uint8]


QuantizeVectors = Callable[[NDArray[np.floating[Any]], NDArray[np.int64]], PQCodes]
"""Takes vectors (R, D) of several passages and the number of vectors of each passage (P)."""


class BulkEncoder(Encoder):
    """An encoder that accepts the next passages before it has finished the previous ones.

    `start` and `finish` are each called by one thread only, for the same passages in the same order.
    """

    workers: int = 0  # processes that tokenise; 0 tokenises in the caller's thread

    @abstractmethod
    def start(self, passages: PackedPassages, packing: Packing, threshold: float | None) -> Any:
        """Begin to encode without waiting for the GPU; `PassageVectors.kept` defines which tokens are kept.

        The packing has batches of `tokens_per_batch`.
        """

    @abstractmethod
    def finish(self, started: Any) -> KeptVectors:
        """Wait for what `start` has begun."""

    @abstractmethod
    def quantizer(self, pq: ProductQuantizer) -> QuantizeVectors:
        """Quantises vectors on the GPU; may be called by a thread of its own."""
