"""Nearest centroids, and matrix products that do not depend on the number of points."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Ints

Points = NDArray[np.floating[Any]]

_ONE_THREAD = 1 << 18  # multiplications
_TILE = 16  # points: blocks of whole tiles, as BLAS computes what is left over in another order
_BLOCK = 512

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
    columns = max(_ONE_THREAD // (_TILE * len(matrix_MV)), 1)
    if columns < matrix_MV.shape[1]:
        parts = range(0, matrix_MV.shape[1], columns)
        return np.hstack([one_thread_product(points_NM, matrix_MV[:, part : part + columns]) for part in parts])
    few = _ONE_THREAD // matrix_MV.size
    return product_in_blocks(points_NM, matrix_MV, max(few - few % _TILE, 1))


def product_in_blocks(points_NM: Points, matrix_MV: Points, block: int = _BLOCK) -> Points:
    """A product in blocks of equally many points, the last one filled up with zeros.

    The last digits of a product depend on its shape. So a point has the same product in whatever company it comes.
    """
    blocks = -(-len(points_NM) // block)
    filled_NM = points_NM
    if len(points_NM) < blocks * block:
        filled_NM = np.zeros((blocks * block, points_NM.shape[1]), dtype=points_NM.dtype)
        filled_NM[: len(points_NM)] = points_NM
    products = np.matmul(filled_NM.reshape(blocks, block, len(matrix_MV)), matrix_MV)
    return np.asarray(products.reshape(blocks * block, matrix_MV.shape[1])[: len(points_NM)])
