"""Rows worth a closer look: exact for small segments, beyond them a faiss index that fits into memory.

The approximate kinds hold coarse codes, of their own or, as `passages`, the first bits of those in the store. What they
propose is scored again from the store, so that scores are the same whatever proposed a row, and segments of different
kinds can be compared.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.candidates.base import CandidateIndex
from densephrases.index.candidates.exact import ExactCandidates, best_of_rows, better_of, no_candidates, refuse_effort
from densephrases.index.candidates.ivf_file import read_inverted, write_inverted
from densephrases.index.candidates.passage_lists import Ranking, passage_lists
from densephrases.index.durable_files import FileEntry
from densephrases.index.kinds import DEFAULT_EFFORT, CandidateKind
from densephrases.index.mapped import release_pages
from densephrases.index.vectors.store import Rows, VectorStore, side_by_side
from densephrases.quantize.product import ResidualPQCodec

EXACT_ROWS = 30_000  # up to here a scan is as fast as anything
_FEWEST_CLUSTERED = 1000
_TRAINING_ROWS = 64  # a cluster
_LEAST_TRAINING_ROWS = 20_000
_ADDED_ROWS = 65_536
_SEED = 20
_NUMBERS_PER_CODE = 3
_LEAST_RESCORED = 400
_LEAST_RESCORED_OF = 100_000  # rows; of more of them more are nearly as good as the best
_FEW_CODES = 100_000  # are compared in some 2 ms
_FEW_ROWS = 250_000  # are clustered and coded in some 20 s

# Shape suffixes: B queries, K candidates of a query or numbers of a pq, N rows, D vector size, L lists of a query.


def choose_kind(store: VectorStore, wanted: CandidateKind | None = None) -> CandidateKind:
    """The kind that was asked for if there are rows enough to train it, else the one that fits."""
    if len(store) < _FEWEST_CLUSTERED:
        return "exact"
    return wanted or ("exact" if len(store) <= EXACT_ROWS else "ivf-pq" if store.means is None else "passages")


class IvfCandidates(CandidateIndex):
    """Compares with the rows of the clusters nearest to a query, by coarse codes first."""

    exact = False
    probes = 1  # clusters that are visited for each one that the effort asks for

    def __init__(self, store: VectorStore, index: Any) -> None:
        super().__init__(store)
        self.index = index

    @classmethod
    def open(cls, folder: Path, store: VectorStore) -> Self:
        return cls(store, read_inverted(folder, len(store)))

    def search(
        self,
        queries_BD: Floats,
        k: int,
        allowed: NDArray[np.bool_] | None = None,
        effort: float = DEFAULT_EFFORT,
        oversample: int = 1,
    ) -> tuple[Floats, Rows]:
        refuse_effort(effort)
        count = len(self.store) if allowed is None else int(np.count_nonzero(allowed))
        if effort == 1:
            return ExactCandidates(self.store).search(queries_BD, k, allowed, effort, oversample)
        if allowed is not None and count <= EXACT_ROWS:
            return best_of_rows(self.store, queries_BD, oversample * k, np.flatnonzero(allowed))
        parameters = self._parameters(effort, count, allowed)
        wanted = min(count, max(least_rescored(len(self.store)), int(k * rescored_share(effort))))
        return self._rescored(queries_BD, self._nearest(queries_BD, wanted, parameters), oversample * k)

    def _nearest(self, queries_BD: Floats, wanted: int, parameters: Any) -> Rows:
        """By threads of our own: faiss 1.15 with sixteen of its own compares with a sixteenth of 20,000 lists."""
        compared = len(queries_BD) * parameters.nprobe * len(self.store) // self.index.nlist
        threads = 1 if compared < _FEW_CODES else faiss.omp_get_max_threads()
        share = -(-len(queries_BD) // threads) or 1

        def nearest(first: int) -> Rows:
            with one_thread(True):
                return self._compared(queries_BD[first : first + share], wanted, parameters)

        found = side_by_side(nearest, range(0, len(queries_BD), share))
        return np.concatenate([np.zeros((0, wanted), dtype=np.int64), *found])

    def _compared(self, queries_BD: Floats, wanted: int, parameters: Any) -> Rows:
        asked_BD = np.ascontiguousarray(queries_BD, dtype=np.float32)
        return np.asarray(self.index.search(asked_BD, wanted, params=parameters)[1])

    def _parameters(self, effort: float, count: int, allowed: NDArray[np.bool_] | None) -> Any:
        """With a filter as many more clusters are visited as it leaves fewer rows of each."""
        wanted = self.probes * probed_clusters(self.index.nlist, effort)
        probes = int(np.ceil(wanted * len(self.store) / count))
        parameters = faiss.SearchParametersIVF(nprobe=min(probes, self.index.nlist))
        if allowed is not None:
            parameters.sel = faiss.IDSelectorBitmap(np.packbits(allowed, bitorder="little"))
        return parameters

    def _rescored(self, queries_BD: Floats, rows_BK: Rows, k: int) -> tuple[Floats, Rows]:
        rows_BK = np.sort(rows_BK, axis=1)  # those of a passage together
        edges_B = rows_BK.shape[1] * np.arange(len(queries_BD) + 1)
        scores_BK = self.store.own_scores(queries_BD, np.maximum(rows_BK, 0).ravel(), edges_B).reshape(rows_BK.shape)
        scores_BK[rows_BK < 0] = -np.inf
        lacking = no_candidates(len(queries_BD), max(k - rows_BK.shape[1], 0))
        return better_of(lacking, scores_BK, rows_BK, k)


class PassageCandidates(IvfCandidates):
    """Clusters are passages. Their means tell less of their rows than centres do of a cluster's."""

    probes = 4

    def __init__(self, store: VectorStore) -> None:
        assert isinstance(store.codec, ResidualPQCodec)
        self._codec = store.codec
        self._ranking = Ranking(store)
        self._lists = passage_lists(store)
        super().__init__(store, self._lists.index)

    def _compared(self, queries_BD: Floats, wanted: int, parameters: Any) -> Rows:
        asked_BK = self._codec.asked(queries_BD)
        lists_BL, scores_BL = self._ranking.best(asked_BK, parameters.nprobe)
        return self._lists.search(asked_BK, wanted, lists_BL, scores_BL, parameters)[1]


@contextmanager
def one_thread(small: bool) -> Iterator[None]:
    """Small work of faiss stays in this thread: on a busy machine the second one may come later than the end of it."""
    threads = faiss.omp_get_max_threads()
    if small:
        faiss.omp_set_num_threads(1)  # of what the calling thread starts
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


def probed_clusters(clusters: int, effort: float) -> int:
    """Geometric: few at 0, all at 1; at 0.5 at least 0.98 of the ten best rows are found."""
    return int(np.ceil(clusters ** ((1 + 2 * effort) / 3)))


def rescored_share(effort: float) -> float:
    """How many candidates are scored again for each one that is asked for: 1 at effort 0, 8 at 0.5."""
    return float(64**effort)


def least_rescored(rows: int) -> int:
    """However few are asked for: 400, in ten million rows 861."""
    return int(_LEAST_RESCORED * max(rows / _LEAST_RESCORED_OF, 1) ** (1 / 6))


def open_candidates(folder: Path, kind: CandidateKind, store: VectorStore) -> CandidateIndex:
    if kind == "passages":
        return PassageCandidates(store)
    return ExactCandidates(store) if kind == "exact" else IvfCandidates.open(folder, store)


def write_candidates(store: VectorStore, kind: CandidateKind, folder: Path) -> dict[str, FileEntry]:
    """Build and save what the kind needs beside the store, the same for the same rows."""
    return {} if kind in ("exact", "passages") else write_inverted(build_ivf(store, kind), folder)


def build_ivf(store: VectorStore, kind: CandidateKind) -> Any:
    assert len(store) >= _FEWEST_CLUSTERED
    clusters = round(len(store) ** 0.5)
    sample_ND = _training_sample(store, max(_TRAINING_ROWS * clusters, _LEAST_TRAINING_ROWS))
    with one_thread(len(store) < _FEW_ROWS):
        parts = _parts(store.dim)
        index = _empty_ivf(kind, _clustered(sample_ND, clusters), clusters, parts)
        with one_thread(True):  # many clusterings of few rows
            index.train(sample_ND)
        for first in range(0, len(store), _ADDED_ROWS):
            index.add(store.decode(slice(first, first + _ADDED_ROWS)))
            release_pages(store.records_N)
    return index


def _training_sample(store: VectorStore, size: int) -> Floats:
    if size >= len(store):
        return store.decode(slice(None))
    rows = np.random.default_rng(_SEED).choice(len(store), size, replace=False)
    return store.decode(np.sort(rows))


def _clustered(sample_ND: Floats, clusters: int) -> Any:
    """Centres on a sphere: with inner products a long centre would draw most rows to itself."""
    dim = sample_ND.shape[1]
    settings = faiss.ClusteringParameters()
    settings.niter, settings.seed, settings.spherical = 5, _SEED, True
    settings.min_points_per_centroid = 1
    settings.max_points_per_centroid = len(sample_ND)
    clustering = faiss.Clustering(dim, clusters, settings)
    quantizer = faiss.IndexFlatIP(dim)
    clustering.train(sample_ND, quantizer)
    return quantizer


def _empty_ivf(kind: CandidateKind, quantizer: Any, clusters: int, parts: int) -> Any:
    dim, metric = quantizer.d, faiss.METRIC_INNER_PRODUCT
    if kind == "ivf-sq4":
        return faiss.IndexIVFScalarQuantizer(quantizer, dim, clusters, faiss.ScalarQuantizer.QT_4bit, metric, True)
    index = faiss.IndexIVFPQFastScan(quantizer, dim, clusters, parts, 4, metric)
    index.by_residual = True
    return index


def _parts(dim: int) -> int:
    """Three numbers in each code of four bits, or what comes next to it and divides the vector."""
    return max(parts for parts in range(1, max(dim // _NUMBERS_PER_CODE, 1) + 1) if dim % parts == 0)
