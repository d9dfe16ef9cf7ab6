"""Training of inverted files: clusters the token vectors of a segment and encodes them coarsely."""

from typing import Any

import faiss
import numpy as np

from densephrases.arrays import Floats
from densephrases.cores import cores, limited_to
from densephrases.index.files.mapped import release_pages
from densephrases.index.kinds import CandidateKind
from densephrases.index.vectors.store import VectorStore

FEWEST_CLUSTERED = 1000
_TRAINING_VECTORS = 64  # for each cluster
_LEAST_TRAINING_VECTORS = 20_000
_ADDED_VECTORS = 65_536
_SEED = 20
_COMPONENTS_PER_CODE = 3
_FEW_VECTORS = 250_000  # are clustered and encoded in about 20 s

# Shape suffixes: N token vectors, D vector size.


def build_ivf(store: VectorStore, kind: CandidateKind) -> Any:
    assert len(store) >= FEWEST_CLUSTERED
    clusters = round(len(store) ** 0.5)
    sample_ND = _training_sample(store, max(_TRAINING_VECTORS * clusters, _LEAST_TRAINING_VECTORS))
    with limited_to(1 if len(store) < _FEW_VECTORS else cores()):  # another thread may start after little work is done
        index = _empty_ivf(kind, _clustered(sample_ND, clusters), clusters, _subquantizers(store.dim))
        with limited_to(1):  # many clusterings of few vectors
            index.train(sample_ND)
        for first in range(0, len(store), _ADDED_VECTORS):
            index.add(store.decode(slice(first, first + _ADDED_VECTORS)))
            release_pages(store.records_N.values)
    return index


def _training_sample(store: VectorStore, size: int) -> Floats:
    if size >= len(store):
        return store.decode(slice(None))
    rows = np.random.default_rng(_SEED).choice(len(store), size, replace=False)
    return store.decode(np.sort(rows))


def _clustered(sample_ND: Floats, clusters: int) -> Any:
    """Centroids on a sphere: with inner products a long one would attract most vectors."""
    dim = sample_ND.shape[1]
    settings = faiss.ClusteringParameters()
    settings.niter, settings.seed, settings.spherical = 5, _SEED, True
    settings.min_points_per_centroid = 1
    settings.max_points_per_centroid = len(sample_ND)
    clustering = faiss.Clustering(dim, clusters, settings)
    quantizer = faiss.IndexFlatIP(dim)
    clustering.train(sample_ND, quantizer)
    return quantizer


def _empty_ivf(kind: CandidateKind, quantizer: Any, clusters: int, subquantizers: int) -> Any:
    dim, metric = quantizer.d, faiss.METRIC_INNER_PRODUCT
    if kind == "ivf-sq4":
        return faiss.IndexIVFScalarQuantizer(quantizer, dim, clusters, faiss.ScalarQuantizer.QT_4bit, metric, True)
    index = faiss.IndexIVFPQFastScan(quantizer, dim, clusters, subquantizers, 4, metric)
    index.by_residual = True
    return index


def _subquantizers(dim: int) -> int:
    """The largest divisor of the vector size that leaves at least three components to each code of four bits."""
    return max(count for count in range(1, max(dim // _COMPONENTS_PER_CODE, 1) + 1) if dim % count == 0)
