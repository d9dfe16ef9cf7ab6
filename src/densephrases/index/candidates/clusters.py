"""Candidates by lists that are clusters of token vectors, for large stores with a product quantizer.

A cluster says more of its rows than a passage: a third as many rows are compared for the same recall, in a fifth as
many lists. But the cluster and the coarse code of each row are on disk, 28 bytes more for vectors of 384 numbers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import faiss

from densephrases.arrays import Bytes, Floats, Ints
from densephrases.index.candidates.cluster_training import ClusteredRows
from densephrases.index.candidates.coarse_lists import CoarseCodebooks, CoarseLists
from densephrases.index.candidates.ivf import IvfCandidates
from densephrases.index.candidates.ivf_file import fill_lists, read_centroids, write_clusters
from densephrases.index.files.durable import FileEntry
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.product import ResidualPQCodec

# Shape suffixes: B queries (here one), D vector size, K components, L lists of a query.


class ClusterCandidates(IvfCandidates):
    """An inverted list for each cluster."""

    def __init__(self, store: VectorStore, centroids_LK: Floats, lists: CoarseLists) -> None:
        assert isinstance(store.codec, ResidualPQCodec)
        super().__init__(store, lists.index)
        self._codec = store.codec
        self._lists = lists
        self._centroids = faiss.IndexFlatIP(centroids_LK.shape[1])
        self._centroids.add(centroids_LK)

    @classmethod
    def from_files(cls, files: Callable[[str], Bytes], store: VectorStore) -> Self:
        assert isinstance(store.codec, ResidualPQCodec)
        centroids_LK = read_centroids(files, len(store.codec.codebooks.components_K))
        codebooks = CoarseCodebooks.from_codec(store.codec)
        lists = CoarseLists(codebooks, len(centroids_LK))
        fill_lists(lists.index, files, len(store))
        return cls(store, centroids_LK, lists)

    def _compared(self, query_D: Floats, wanted: int, parameters: Any) -> tuple[Floats, Ints]:
        projected_BK = self._codec.project_queries(query_D[None])
        scores_BL, lists_BL = self._centroids.search(projected_BK, parameters.nprobe)
        scores_BK, rows_BK = self._lists.search(projected_BK, wanted, lists_BL, scores_BL, parameters)
        return scores_BK[0], rows_BK[0]


def write_cluster_candidates(store: VectorStore, folder: Path) -> dict[str, FileEntry]:
    rows = ClusteredRows.of_store(store)
    return write_clusters(folder, rows.centroids_LK, rows.list_N, rows.packed_codes())
