"""The interface of all kinds of candidates."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints
from densephrases.index.cancellation import Check, go_on
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.index.vectors.store import VectorStore


class CandidateIndex(ABC):
    """Proposes the rows of a segment with the largest inner products."""

    def __init__(self, store: VectorStore) -> None:
        self.store = store

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether no other row scores higher than one that is returned, whatever the effort."""

    @abstractmethod
    def search(
        self,
        queries_BD: Floats,
        k: int,
        allowed: NDArray[np.bool_] | None = None,
        effort: float = DEFAULT_EFFORT,
        oversample: int = 1,
        check: Check = go_on,
    ) -> tuple[Floats, Ints]:
        """Scores (B, oversample * k), best first, and their rows; where there are fewer, -inf and -1.

        Args:
            queries_BD: Start or end vectors of questions.
            k: Rows for each query.
            allowed: A mask over all rows of the segment; None allows all.
            effort: From 0, fast, to 1, exact.
            oversample: `oversample` times k rows are returned; those after the first k cost nothing more, as they were
                compared anyway.
            check: Called at least every few tenths of a second; what it raises ends the search.
        """
