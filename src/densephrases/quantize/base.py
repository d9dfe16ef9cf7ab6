"""What turns vectors into records of a few bytes, and scores records without making vectors of them again."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.quantize.codebooks import ProductQuantizer

Records = NDArray[Any]
Scorer = Callable[[Records], Floats]

# Shape suffixes: B queries, N rows, P passages, D vector size.


class Codec(ABC):
    """Vectors to records of a few bytes and back."""

    @property
    @abstractmethod
    def dim(self) -> int: ...

    @property
    @abstractmethod
    def row_type(self) -> np.dtype[Any]:
        """How one row stands in the file."""

    @abstractmethod
    def encode(self, vectors_ND: NDArray[np.floating[Any]]) -> Records: ...

    @abstractmethod
    def decode(self, records_N: Records) -> Floats:
        """Vectors, as near to what was encoded as the codes allow."""

    @abstractmethod
    def scorer(self, queries_BD: Floats) -> Scorer:
        """Gives the inner products (B, N) of the queries with what records decode to."""

    def scorers(self, queries_BD: Floats) -> list[Scorer]:
        """For each query one that gives its inner products (N) alone, where queries have rows of their own."""
        return [_of_one(self.scorer(query_D[None])) for query_D in queries_BD]


class IndexCodec(Codec):
    """A codec that is made from the first rows of an index and shared by all of them."""

    means: Codec | None = None  # codes what the rows of a passage have in common; rows then code what is beyond it

    @classmethod
    @abstractmethod
    def fit(cls, vectors_ND: Floats, pq: ProductQuantizer | None) -> Self:
        """From some vectors, or by the code that the model brings along."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: NDArray[np.uint8], dim: int, pq: ProductQuantizer | None) -> Self:
        """What `to_bytes` gave, and the model's code if the index was made with one."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """What an index keeps of it."""


def _of_one(scorer: Scorer) -> Scorer:
    return lambda records_N: scorer(records_N)[0]


def passage_means(vectors_ND: NDArray[np.floating[Any]], rows_P: NDArray[np.int64]) -> Floats:
    """Of the rows of each passage, which stand one after the other; zeros for a passage without rows."""
    means_PD = np.zeros((len(rows_P), vectors_ND.shape[1]), dtype=np.float32)
    full_P = rows_P > 0
    first_P = np.cumsum(rows_P) - rows_P
    if full_P.any():
        sums_PD = np.add.reduceat(vectors_ND.astype(np.float32), first_P[full_P], axis=0)
        means_PD[full_P] = sums_PD / rows_P[full_P, None]
    return means_PD
