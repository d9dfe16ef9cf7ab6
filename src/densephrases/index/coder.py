"""What turns vectors into records of a few bytes, and scores records without making vectors of them again."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.model.statistics import VectorStatistics

Floats = NDArray[np.float32]
Records = NDArray[Any]
Scorer = Callable[[Records], Floats]

# Shape suffixes: B queries, N rows, D vector size, S numbers of a sketch.


class Coder(ABC):
    """Made from the first rows of an index and shared by all of them."""

    sketch_numbers_per_code = 3  # of a candidate index, in 4 bits
    sketch_probes = 1  # clusters that are visited for each one that the effort asks for
    sketch_rescored = 1  # rows that are scored again for each one that the effort asks for

    @classmethod
    @abstractmethod
    def fit(cls, vectors_ND: Floats, statistics: VectorStatistics | None) -> Self:
        """From some vectors, and what the model knows of others."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: NDArray[np.uint8], dim: int) -> Self:
        """What `to_bytes` gave."""

    @abstractmethod
    def to_bytes(self) -> bytes: ...

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

    def sketch(self, records_N: Records) -> Floats:
        """Numbers (N, S) whose products with those of queries rank rows nearly as scores do."""
        return self.decode(records_N)

    def sketch_queries(self, queries_BD: Floats) -> Floats:
        return queries_BD


def _of_one(scorer: Scorer) -> Scorer:
    return lambda records_N: scorer(records_N)[0]
