"""Candidates by an inverted file of faiss (IVF), rescored from the store.

The approximate kinds compare coarse codes: of their own, or, as `passages`, the upper bits of those in the store. What
they propose is scored again from the store. So scores do not depend on the kind, and segments of different kinds can be
compared.
"""

from collections.abc import Callable
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes, Floats, Ints
from densephrases.cores import cores, limited_to, side_by_side
from densephrases.index.cancellation import Check, go_on
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.exact import (
    ExactCandidates,
    best_of_rows,
    is_small,
    no_candidates,
    refuse_effort,
    rescored,
)
from densephrases.index.candidates.ivf_file import read_inverted
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.index.vectors.store import VectorStore

_LEAST_RESCORED = 400
_LEAST_RESCORED_OF = 100_000  # vectors; of more vectors, more score nearly as high as the best
_FEW_CODES = 100_000  # are compared in about 2 ms

# Shape suffixes: B queries, K candidates of a query, N token vectors (rows), D vector size.


class IvfCandidates(CandidateIndex):
    """Compares with the rows of the lists nearest to a query, by coarse codes first."""

    exact = False
    probes = 1  # lists that are probed for each one that the effort asks for

    def __init__(self, store: VectorStore, index: Any) -> None:
        super().__init__(store)
        self.index = index

    @classmethod
    def from_files(cls, files: Callable[[str], Bytes], store: VectorStore) -> Self:
        return cls(store, read_inverted(files, len(store), store.dim))

    def search(
        self,
        queries_BD: Floats,
        k: int,
        allowed: NDArray[np.bool_] | None = None,
        effort: float = DEFAULT_EFFORT,
        oversample: int = 1,
        check: Check = go_on,
    ) -> tuple[Floats, Ints]:
        refuse_effort(effort)
        count = len(self.store) if allowed is None else int(np.count_nonzero(allowed))
        if effort == 1:
            return ExactCandidates(self.store).search(queries_BD, k, allowed, effort, oversample, check)
        if allowed is not None and is_small(count):
            return best_of_rows(self.store, queries_BD, oversample * k, np.flatnonzero(allowed), check)
        wanted = min(count, max(least_rescored(len(self.store)), int(k * rescored_share(effort))))
        _, nearest_BK = self.nearest(queries_BD, wanted, self.parameters(effort, count, allowed), check)
        return rescored(self.store, queries_BD, nearest_BK, oversample * k, check)

    def nearest(self, queries_BD: Floats, wanted: int, parameters: Any, check: Check = go_on) -> tuple[Floats, Ints]:
        """The best rows by coarse codes (B, wanted) and what they score by these, in any order; -1 where there is none.

        Query by query: what faiss finds for one depends on how many there are, and none of its calls ends early.
        """
        compared = len(queries_BD) * parameters.nprobe * len(self.store) // self.index.nlist
        threads = 1 if compared < _FEW_CODES else cores()
        share = -(-len(queries_BD) // threads) or 1

        scores_BK, rows_BK = no_candidates(len(queries_BD), wanted)

        def compare(first: int) -> None:
            with limited_to(1):
                for number in range(first, min(first + share, len(queries_BD))):
                    check()
                    scores_BK[number], rows_BK[number] = self._compared(queries_BD[number], wanted, parameters)

        side_by_side(compare, range(0, len(queries_BD), share))
        return scores_BK, rows_BK

    def _compared(self, query_D: Floats, wanted: int, parameters: Any) -> tuple[Floats, Ints]:
        contiguous_BD = np.ascontiguousarray(query_D[None], dtype=np.float32)
        scores_BK, rows_BK = self.index.search(contiguous_BD, wanted, params=parameters)
        return scores_BK[0], rows_BK[0]

    def parameters(self, effort: float, count: int, allowed: NDArray[np.bool_] | None) -> Any:
        """A filter that allows a share of the rows multiplies the probed lists by its inverse."""
        wanted = self.probes * probed_lists(self.index.nlist, effort)
        probes = int(np.ceil(wanted * len(self.store) / count))
        parameters = faiss.SearchParametersIVF(nprobe=min(probes, self.index.nlist))
        if allowed is not None:
            parameters.sel = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        return parameters


def probed_lists(lists: int, effort: float) -> int:
    """Geometric: few at 0, all at 1; at 0.5 at least 0.98 of the ten best rows are found."""
    return int(np.ceil(lists ** ((1 + 2 * effort) / 3)))


def rescored_share(effort: float) -> float:
    """Rescored candidates for each one that is asked for: 1 at effort 0, 8 at 0.5."""
    return float(64**effort)


def least_rescored(vectors: int) -> int:
    """However few are asked for: 400, of ten million vectors 861."""
    return int(_LEAST_RESCORED * max(vectors / _LEAST_RESCORED_OF, 1) ** (1 / 6))
