"""Clusters of the token vectors of a segment, and their coarse codes relative to these.

Clusters are directions: questions differ in which way they point, and the inner product with a long centroid would be
large for most of them. They are in two levels: a vector is compared with all branches, then with the clusters of the
nearest few, which is a twentieth of all. All is computed from components, which is what a store holds of its vectors.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import faiss
import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes, Floats, Ints
from densephrases.cores import cores, side_by_side
from densephrases.index.candidates.coarse_lists import list_runs, packed
from densephrases.index.files.mapped import release_pages
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.nearest import one_thread_product
from densephrases.quantize.product import ResidualPQCodec

_CLUSTERS_PER_ROOT = 4  # times the square root of the number of vectors
_SAMPLED = 32  # vectors for each cluster
_BRANCH_SAMPLED = 400
_ROUNDS = 6
_REFINEMENTS = 2  # of all clusters, with vectors from neighbouring branches
_NEAR_BRANCHES = 4
_ROWS_AT_ONCE = 16_384
_SEED = 20
_MOST_CLUSTERS = 1 << 15

# Shape suffixes: N token vectors (rows), D vector size, K components, E the same and a one, L clusters, G branches,
# C codes, or how many of the nearest.


@dataclass(frozen=True, slots=True)
class ClusteredRows:
    """What a search by clusters needs of a segment.

    Attributes:
        centroids_LK: The mean of each cluster, as components.
        list_N: The cluster of each row.
        codes_NC: Codes of four bits of what a row is beyond the centroid.
    """

    centroids_LK: NDArray[np.float16]
    list_N: NDArray[np.uint16]
    codes_NC: Bytes

    @classmethod
    def of_store(cls, store: VectorStore) -> Self:
        codec, rows = _codec(store), len(store)
        count = min(round(_CLUSTERS_PER_ROOT * rows**0.5), _MOST_CLUSTERS, rows)
        sampled = np.random.default_rng(_SEED).choice(rows, min(_SAMPLED * count, rows), replace=False)
        clusters = Clusters.trained(components_of(store, np.sort(sampled)), count, codec.product_quantizer)
        centroids_LK = clusters.centroids_LK.astype(np.float16)
        list_N = np.empty(rows, dtype=np.uint16)
        codes_NC = np.empty((rows, len(codec.codebooks.sizes_F)), dtype=np.uint8)
        threads = cores()

        def assign(thread: int) -> None:
            for first in range(thread * _ROWS_AT_ONCE, rows, threads * _ROWS_AT_ONCE):
                block = slice(first, min(first + _ROWS_AT_ONCE, rows))
                components_NK = components_of(store, np.arange(block.start, block.stop))
                list_N[block] = clusters.nearest(components_NK)
                beyond_NK = components_NK - centroids_LK[list_N[block]]
                codes_NC[block] = codec.coarse_codes(beyond_NK)

        side_by_side(assign, range(threads))
        release_pages(store.records_N.values)
        return cls(centroids_LK, list_N, codes_NC)

    def packed_codes(self) -> Iterator[Bytes]:
        """The codes of all lists in turn, in the layout of faiss."""
        order_N = np.argsort(self.list_N, kind="stable")
        sizes_L = np.bincount(self.list_N, minlength=len(self.centroids_LK))
        edges_L = np.cumsum([0, *sizes_L])
        for first, last in list_runs(edges_L):
            yield packed(self.codes_NC[order_N[edges_L[first] : edges_L[last]]], sizes_L[first:last])


class Directions:
    """Unit vectors, of which those with the largest inner products are sought: by faiss, in a third of numpy's time."""

    def __init__(self, vectors_LD: Floats, pq: ProductQuantizer) -> None:
        weights_LK = one_thread_product(vectors_LD, np.ascontiguousarray(pq.reconstruction_KD.T))
        self._index = faiss.IndexFlatIP(weights_LK.shape[1] + 1)
        self._index.add(np.hstack([weights_LK, (vectors_LD @ pq.mean_D)[:, None]]))

    @classmethod
    def of_means(cls, centroids_LK: Floats, pq: ProductQuantizer) -> Self:
        vectors_LD = pq.mean_D + one_thread_product(centroids_LK, pq.reconstruction_KD)
        vectors_LD /= np.maximum(np.linalg.norm(vectors_LD, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return cls(np.asarray(vectors_LD, dtype=np.float32), pq)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def nearest(self, vectors_NE: Floats, count: int = 1) -> tuple[Floats, Ints]:
        """The largest products of each vector, and with which directions they are (N, count)."""
        found: tuple[Floats, Ints] = self._index.search(vectors_NE, count)
        return found


def extended(components_NK: Floats) -> Floats:
    """Components and a one, by which the mean of all vectors counts as well (N, E)."""
    return np.hstack([components_NK, np.ones((len(components_NK), 1), dtype=np.float32)])


@dataclass(frozen=True, slots=True)
class Clusters:
    """The clusters of each branch, one branch after the other."""

    branches: Directions
    centroids_LK: Floats
    directions: list[Directions]  # of the clusters of each branch

    @classmethod
    def trained(cls, components_NK: Floats, count: int, pq: ProductQuantizer) -> Self:
        random = np.random.default_rng(_SEED)
        branches = max(round(count**0.5), 1)
        some_N = random.permutation(len(components_NK))[: _BRANCH_SAMPLED * branches]
        branch_GK = _k_means(components_NK[some_N], branches, pq, random)
        level = Directions.of_means(branch_GK, pq)
        branch_N = _by_blocks(lambda block_NK: level.nearest(extended(block_NK))[1][:, 0], components_NK)
        seeded = random.spawn(len(branch_GK))  # so that the clusters do not depend on which thread is first

        def divided(branch: int) -> Floats:
            members_NK = components_NK[branch_N == branch]
            wanted = min(max(count * len(members_NK) // len(components_NK), 1), len(members_NK))
            return _k_means(members_NK, wanted, pq, seeded[branch])

        clusters = cls._of_parts(level, side_by_side(divided, range(len(branch_GK))), pq)
        for _ in range(_REFINEMENTS):
            clusters = clusters._refined(components_NK, pq)
        return clusters

    @classmethod
    def _of_parts(cls, branches: Directions, parts: list[Floats], pq: ProductQuantizer) -> Self:
        return cls(branches, np.concatenate(parts), [Directions.of_means(part, pq) for part in parts])

    @property
    def edges_G(self) -> Ints:  # noqa: N802
        return np.cumsum([0, *map(len, self.directions)])

    def _refined(self, components_NK: Floats, pq: ProductQuantizer) -> Self:
        """With the means of the vectors that are nearest; without clusters that are nearest to none."""
        means_LK, sizes_L = _means(components_NK, _by_blocks(self.nearest, components_NK), len(self.centroids_LK))
        edges = pairwise(self.edges_G.tolist())
        parts = [means_LK[first:last][sizes_L[first:last] > 0] for first, last in edges]
        return self._of_parts(self.branches, parts, pq)

    def nearest(self, components_NK: Floats) -> Ints:
        """The cluster whose direction has the largest inner product, among those of the nearest branches."""
        near = min(_NEAR_BRANCHES, len(self.directions))
        vectors_NE = extended(components_NK)
        branches_N = self.branches.nearest(vectors_NE, near)[1].ravel()
        by_branch = np.argsort(branches_N, kind="stable")
        edges = np.searchsorted(branches_N[by_branch], np.arange(len(self.directions) + 1)).tolist()
        nearest_N, best_N = np.zeros(len(components_NK), dtype=np.int64), np.full(len(components_NK), -np.inf)
        branches = zip(self.directions, self.edges_G.tolist(), pairwise(edges), strict=False)
        for directions, first_cluster, (first, last) in branches:
            if first < last and len(directions):
                rows = by_branch[first:last] // near
                products_N1, column_N1 = directions.nearest(vectors_NE[rows])
                better = products_N1[:, 0] > best_N[rows]
                best_N[rows[better]] = products_N1[better, 0]
                nearest_N[rows[better]] = first_cluster + column_N1[better, 0]
        return nearest_N


def components_of(store: VectorStore, rows_N: Ints) -> Floats:
    """Of whole vectors, those of their passages' centroids included (N, K)."""
    assert store.centroids is not None
    return np.asarray(_codec(store).components(store.records_N[rows_N]) + store.centroids.row_components(rows_N))


def _codec(store: VectorStore) -> ResidualPQCodec:
    assert isinstance(store.codec, ResidualPQCodec)
    return store.codec


def _by_blocks(work: Callable[[Floats], Ints], components_NK: Floats) -> Ints:
    """A number for each row, computed by all cores."""
    firsts = range(0, len(components_NK), _ROWS_AT_ONCE)
    found = side_by_side(lambda first: work(components_NK[first : first + _ROWS_AT_ONCE]), firsts)
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])


def _k_means(components_NK: Floats, count: int, pq: ProductQuantizer, random: np.random.Generator) -> Floats:
    """Means of at most `count` clusters by direction."""
    means_LK = components_NK[random.choice(len(components_NK), min(count, len(components_NK)), replace=False)]
    vectors_NE = extended(components_NK)
    for _ in range(_ROUNDS if len(means_LK) > 1 else 0):
        nearest_N = Directions.of_means(means_LK, pq).nearest(vectors_NE)[1][:, 0]
        means_LK, sizes_L = _means(components_NK, nearest_N, len(means_LK))
        means_LK = means_LK[sizes_L > 0]
    return means_LK


def _means(components_NK: Floats, nearest_N: Ints, count: int) -> tuple[Floats, Ints]:
    """The mean (count, K) and the number of the vectors of each cluster; zeros where there are none."""
    sizes_L = np.bincount(nearest_N, minlength=count)
    means_LK = np.zeros((count, components_NK.shape[1]), dtype=np.float32)
    filled = np.flatnonzero(sizes_L)
    if len(filled):
        order = np.argsort(nearest_N, kind="stable")
        sums = np.add.reduceat(components_NK[order], (np.cumsum(sizes_L) - sizes_L)[filled], axis=0)
        means_LK[filled] = sums / sizes_L[filled, None]
    return means_LK, sizes_L
