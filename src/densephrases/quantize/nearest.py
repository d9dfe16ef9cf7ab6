"""Nearest centroids, and matrix products that stay in the calling thread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Ints

Points = NDArray[np.floating[Any]]

_ONE_THREAD = 1 << 18  # multiplications

# Shape suffixes: N points, M components, V centroids.


def nearest_centroids(points_NM: Points, centroids_MV: Points) -> Ints:
    """The number of the centroid that is nearest to each point; the lowest of equally near ones."""
    distances_NV = one_thread_product(points_NM, -2 * centroids_MV)
    distances_NV += np.square(centroids_MV).sum(axis=0)
    return np.asarray(distances_NV.argmin(axis=1))


def one_thread_product(points_NM: Points, matrix_MV: Points) -> Points:
    """A product in blocks of few points, for which OpenBLAS wakes no threads.

    Once awake they keep cores busy for 70 ms, which faiss needs next. And several threads encode vectors: each of them
    would wake one for every core.
    """
    step = max(_ONE_THREAD // matrix_MV.size, 1)
    if len(points_NM) <= step:
        return np.asarray(points_NM @ matrix_MV)
    products_NV = np.empty((len(points_NM), matrix_MV.shape[1]), dtype=np.result_type(points_NM, matrix_MV))
    whole = len(points_NM) - len(points_NM) % step
    stacked = points_NM[:whole].reshape(-1, step, len(matrix_MV))
    np.matmul(stacked, matrix_MV, out=products_NV[:whole].reshape(*stacked.shape[:2], -1))
    np.matmul(points_NM[whole:], matrix_MV, out=products_NV[whole:])
    return products_NV
