"""The interface of codecs: vectors to records of a few bytes and back, and scores without decoding."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints
from densephrases.quantize.codebooks import ProductQuantizer

Records = NDArray[Any]
Scorer = Callable[[Records], Floats]
PairScorer = Callable[[Records, Ints], Floats]

# Shape suffixes: B queries, N vectors, P passages, D vector size.


class Codec(ABC):
    """Vectors to records of a few bytes and back."""

    @property
    @abstractmethod
    def dim(self) -> int: ...

    @property
    @abstractmethod
    def row_type(self) -> np.dtype[Any]:
        """The record of one vector."""

    @abstractmethod
    def encode(self, vectors_ND: NDArray[np.floating[Any]]) -> Records: ...

    @abstractmethod
    def decode(self, records_N: Records) -> Floats:
        """The vectors that were encoded, up to the quantization error."""

    @abstractmethod
    def scorer(self, queries_BD: Floats) -> Scorer:
        """Gives the inner products (B, N) of the queries with decoded records; their last digits may vary."""

    @abstractmethod
    def pair_scorer(self, queries_BD: Floats) -> PairScorer:
        """Gives the inner products (N) of records with a query each, given by ascending numbers.

        A score depends on its query and its record alone, to the last digit.
        """


class IndexCodec(Codec):
    """A codec that is fitted to the first vectors of an index and shared by all of them."""

    centroid_codec: Codec | None = None  # of passage centroids, if vectors are stored as residuals relative to them

    @classmethod
    @abstractmethod
    def fit(cls, vectors_ND: Floats, pq: ProductQuantizer | None) -> Self:
        """From some vectors, or from the model's product quantizer."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: NDArray[np.uint8], dim: int, pq: ProductQuantizer | None) -> Self:
        """From what `to_bytes` gave and the model's product quantizer, if the index was built with one."""

    @abstractmethod
    def to_bytes(self) -> bytes:
        """What an index stores of it."""


def in_turn(scorers: Sequence[Scorer]) -> PairScorer:
    """Scores the records of one query after the other."""

    def scores(records_N: Records, query_N: Ints) -> Floats:
        edges = np.searchsorted(query_N, np.arange(len(scorers) + 1)).tolist()
        own = [score(records_N[slice(*edge)]) for score, edge in zip(scorers, pairwise(edges), strict=True)]
        return np.concatenate([np.zeros(0, dtype=np.float32), *own])

    return scores


def passage_centroids(vectors_ND: NDArray[np.floating[Any]], rows_P: NDArray[np.int64]) -> Floats:
    """The mean of each passage's vectors, of which `rows_P` says how many follow; zeros for a passage without any."""
    centroids_PD = np.zeros((len(rows_P), vectors_ND.shape[1]), dtype=np.float32)
    full_P = rows_P > 0
    first_P = np.cumsum(rows_P) - rows_P
    if full_P.any():
        sums_PD = np.add.reduceat(vectors_ND.astype(np.float32), first_P[full_P], axis=0)
        centroids_PD[full_P] = sums_PD / rows_P[full_P, None]
    return centroids_PD
