"""Encoding many passages at once on a device that computes while others prepare and write."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densephrases.model.encoder import Encoder
from densephrases.model.packing import PackedPassages, Packing
from densephrases.quantize.codebooks import ProductQuantizer

# Shape suffixes: T tokens of all passages in turn, R those that are kept, P passages, D vector size, F bytes.


@dataclass(frozen=True, slots=True)
class KeptVectors:
    """The tokens worth storing and their vectors, of 32 or 16 bits."""

    kept_R: NDArray[np.int64]
    vectors_RD: NDArray[np.floating[Any]]


class Codes(NamedTuple):
    """Bytes of rows, and of the means of passages beyond which rows are coded."""

    rows_RF: NDArray[np.uint8]
    means_PF: NDArray[np.uint8]


Coding = Callable[[NDArray[np.floating[Any]], NDArray[np.int64]], Codes]
"""Of vectors (R, D) of passages that have so many rows (P) each."""


class BulkEncoder(Encoder):
    """An encoder that is given many passages at once, and the next ones before it is done.

    `start` and `finish` are each called by one thread only, for the same passages in the same order.
    """

    workers: int = 0  # processes that tokenise; none leaves it to the caller's thread

    @abstractmethod
    def start(self, passages: PackedPassages, packing: Packing, threshold: float | None) -> Any:
        """Begin to encode, without waiting for the device; tokens are kept as `PassageVectors.kept` says.

        The packing is of batches of `tokens_per_batch`.
        """

    @abstractmethod
    def finish(self, started: Any) -> KeptVectors:
        """Wait for what was begun."""

    @abstractmethod
    def coding(self, pq: ProductQuantizer) -> Coding:
        """Codes vectors where they were made; a thread of its own may call it."""
