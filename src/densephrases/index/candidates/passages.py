"""Candidates by lists that are passages, for stores whose token vectors are residuals of passage centroids."""

from typing import Any

from densephrases.arrays import Floats, Ints
from densephrases.index.candidates.ivf import IvfCandidates
from densephrases.index.candidates.passage_lists import PassageRanking, passage_lists
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.product import ResidualPQCodec

# Shape suffixes: B queries (here one), D vector size, K components, L lists of a query.


class PassageCandidates(IvfCandidates):
    """An inverted list for each passage. Centroids of passages say less about their rows than those of clusters."""

    probes = 5

    def __init__(self, store: VectorStore) -> None:
        assert isinstance(store.codec, ResidualPQCodec)
        self._codec = store.codec
        self._ranking = PassageRanking(store)
        self._lists = passage_lists(store)
        super().__init__(store, self._lists.index)

    def _compared(self, query_D: Floats, wanted: int, parameters: Any) -> tuple[Floats, Ints]:
        projected_BK = self._codec.project_queries(query_D[None])
        lists_BL, scores_BL = self._ranking.best(projected_BK, parameters.nprobe)
        scores_BK, rows_BK = self._lists.search(projected_BK, wanted, lists_BL, scores_BL, parameters)
        return scores_BK[0], rows_BK[0]
