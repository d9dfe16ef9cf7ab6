"""What a kind of candidates offers."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.index.vectors.store import Rows, VectorStore


class CandidateIndex(ABC):
    """Proposes the rows of a segment with the largest inner products."""

    def __init__(self, store: VectorStore) -> None:
        self.store = store

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether no row that is left out has a higher score than one that is given, whatever the effort."""

    @abstractmethod
    def search(
        self,
        queries_BD: Floats,
        k: int,
        allowed: NDArray[np.bool_] | None = None,
        effort: float = DEFAULT_EFFORT,
        oversample: int = 1,
    ) -> tuple[Floats, Rows]:
        """Scores (B, oversample * k), best first, and their rows; where there are fewer, -inf and -1.

        Args:
            queries_BD: Start or end vectors of questions.
            k: How many rows of each query.
            allowed: A mask over all rows of the segment; None allows all.
            effort: From 0, fast, to 1, exact.
            oversample: So many times k rows are given: those after the first k are what was compared anyway.
        """
