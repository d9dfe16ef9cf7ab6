"""Codes that lose little along their vectors.

A question that ranks a vector among the first points its way. So what an error has along the vector moves its score
more than the rest, and counts more (anisotropic vector quantization, Guo et al., 2020). The last third of the bytes,
which have the smallest components, is chosen such that they make up for what the bytes before have lost along it.
"""

import numpy as np

from densephrases.arrays import Bytes, Floats
from densephrases.quantize.codebooks import Codebooks
from densephrases.quantize.nearest import nearest_centroids, one_thread_product

ALONG = 5.0  # times more counts an error along the vector
LEAST_NORM = 1e-12

# Shape suffixes: N vectors, K components in the order of the codebooks, M components of a byte, F bytes, V values.


def anisotropic_codes(points_NK: Floats, vectors_NK: Floats, books: Codebooks, centroids_KV: Floats) -> Bytes:
    """Codes (N, F) of points.

    Args:
        points_NK: What is encoded: residuals of the vectors.
        vectors_NK: The vectors themselves, of which only directions matter.
        books: Which components share a byte.
        centroids_KV: As they are decoded.
    """
    codes_NF = np.empty((len(points_NK), len(books.sizes_F)), dtype=np.uint8)
    along_NK = directions(vectors_NK)
    lost_N = np.zeros(len(points_NK), dtype=np.float32)  # along the vector, by the bytes so far
    for byte, group in enumerate(books.groups):
        points_NM, along_NM, centroids_MV = points_NK[:, group], along_NK[:, group], centroids_KV[group]
        wanted_N = lost_N + (points_NM * along_NM).sum(axis=1)
        if byte < first_weighed(books):
            codes_NF[:, byte] = nearest_centroids(points_NM, centroids_MV)
        else:
            codes_NF[:, byte] = _least_cost(points_NM, along_NM, wanted_N, centroids_MV)
        lost_N = wanted_N - (centroids_MV.T[codes_NF[:, byte]] * along_NM).sum(axis=1)
    return codes_NF


def first_weighed(books: Codebooks) -> int:
    """The first byte that is chosen by more than the nearest centroid."""
    return len(books.sizes_F) - len(books.sizes_F) // 3


def directions(vectors_NK: Floats) -> Floats:
    """The square of a product with these is the weighed square of what lies along a vector."""
    norms_N1 = np.sqrt(np.square(vectors_NK).sum(axis=1, keepdims=True))
    return np.asarray(vectors_NK * (np.sqrt(ALONG, dtype=np.float32) / np.maximum(norms_N1, LEAST_NORM)))


def _least_cost(points_NM: Floats, along_NM: Floats, wanted_N: Floats, centroids_MV: Floats) -> Bytes:
    """The value c with the least |point - c|² + (wanted - along·c)²."""
    costs_NV = np.square(one_thread_product(along_NM, centroids_MV))
    costs_NV += one_thread_product(points_NM + wanted_N[:, None] * along_NM, -2 * centroids_MV)
    costs_NV += np.square(centroids_MV).sum(axis=0)
    return np.asarray(costs_NV.argmin(axis=1), dtype=np.uint8)
