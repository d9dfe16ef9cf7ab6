"""Learns the product quantizer of a model from vectors of questions and passages.

What matters is the error of scores, not of vectors: a direction in which token vectors differ costs nothing if no
question points there. Let A be the root of the second moment of question vectors, C the covariance of token vectors
about their passage's centroid, and U the eigenvectors of A C A. The components (x - mean) A U then have falling shares
in the variance of scores, and a score is q·mean + (U' A^-1 q)·components.

Each byte takes equally many components, allocated such that the products of their variances are nearly equal (the
eigenvalue allocation of optimized product quantization), and its centroids are learned by k-means.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.quantize.base import passage_centroids
from densephrases.quantize.codebooks import VALUES, Codebooks, ProductQuantizer
from densephrases.quantize.nearest import nearest_centroids

_VECTOR = 384  # dimensions, for which the next three are meant; others take a share of them
_COMPONENTS = 256
_ROW_BYTES = 48
_PASSAGE_BYTES = 104
_SMALL = 2  # times fewer bytes has the small variant
_LEAST_SHARE = 1e-4  # of the strongest direction: some question may point in any of them
_LEAST_VARIANCE = 1e-6  # of the largest
_SAMPLES = 60_000
_ROUNDS = 10
_COARSE = 16  # centroids of the upper four bits
_SEED = 20

Matrix = NDArray[np.float64]

# Shape suffixes: B questions, N token vectors, P passages, D vector size, K components, M components of a byte,
# S samples, V centroids of a byte, C centroids.


def learn_product_quantizer(
    questions_BD: Floats,
    vectors_ND: Floats,
    rows_P: NDArray[np.int64],
    row_bytes: int | None = None,
    samples: int = _SAMPLES,
) -> ProductQuantizer:
    """From start and end vectors of questions and the token vectors of passages, with a variant of half the bytes.

    Args:
        questions_BD: Like those that will be asked.
        vectors_ND: Token vectors, passage after passage.
        rows_P: How many of them each passage has.
        row_bytes: Bytes of an encoded token vector; None takes an eighth of the vector size.
        samples: Points from which the centroids of a byte are learned.
    """
    dim = vectors_ND.shape[1]
    components = _share(_COMPONENTS, dim)
    sizes = _sizes(row_bytes, dim, components)
    mean_D = vectors_ND.mean(axis=0, dtype=np.float64)
    centroids_PD = passage_centroids(vectors_ND, rows_P)[rows_P > 0]
    residuals_ND = _residuals(vectors_ND, rows_P)
    root_DD, inverse_DD = _roots(_moment(questions_BD))
    variance_D, basis_DD = np.linalg.eigh(root_DD @ _moment(residuals_ND) @ root_DD)
    basis_DK = basis_DD[:, np.argsort(-variance_D, kind="stable")[:components]]
    projection_DK = _rounded(root_DD @ basis_DK)
    residuals_NK = residuals_ND @ projection_DK
    pq = ProductQuantizer(
        mean_D.astype(np.float32),
        projection_DK,
        _rounded(basis_DK.T @ inverse_DD),
        _codebooks(residuals_NK, sizes[0], samples),
        _codebooks((centroids_PD - mean_D) @ projection_DK, _share(_PASSAGE_BYTES, dim), samples),
    )
    return replace(pq, variants=tuple(_codebooks(residuals_NK, size, samples) for size in sizes[1:]))


def learn_new_codebooks(
    pq: ProductQuantizer,
    vectors_ND: Floats,
    rows_P: NDArray[np.int64],
    row_bytes: int | None = None,
    samples: int = _SAMPLES,
) -> ProductQuantizer:
    """New codebooks of residuals, for the same components; the former ones are kept for indexes that need them."""
    sizes = _sizes(row_bytes, len(pq.mean_D), pq.projection_DK.shape[1])
    residuals_NK = _residuals(vectors_ND, rows_P) @ pq.projection_DK
    residual, *variants = (_codebooks(residuals_NK, size, samples) for size in sizes)
    return replace(pq, residual=residual, variants=(*variants, pq.residual, *pq.variants))


def _sizes(row_bytes: int | None, dim: int, components: int) -> list[int]:
    """Bytes of a token vector: of the quantizer and of its small variant, if there can be one."""
    if row_bytes is not None and not 0 < row_bytes <= components:
        raise ConfigError(f"A token vector of size {dim} cannot have {row_bytes} bytes; expected 1 to {components}.")
    size = row_bytes or _share(_ROW_BYTES, dim)
    return [size, size // _SMALL] if size >= _SMALL else [size]


def _share(count: int, dim: int) -> int:
    return min(-(-count * dim // _VECTOR), dim)


def _residuals(vectors_ND: Floats, rows_P: NDArray[np.int64]) -> Floats:
    return np.asarray(vectors_ND - np.repeat(passage_centroids(vectors_ND, rows_P), rows_P, axis=0))


def _moment(vectors_ND: Floats) -> Matrix:
    vectors_ND = vectors_ND.astype(np.float64)
    return np.asarray(vectors_ND.T @ vectors_ND / max(len(vectors_ND), 1))


def _roots(moment_DD: Matrix) -> tuple[Matrix, Matrix]:
    """The square root of a symmetric matrix and the root's inverse; scaled, as only directions matter."""
    share_D, basis_DD = np.linalg.eigh(moment_DD)
    largest = share_D[-1] if share_D[-1] > 0 else 1.0
    root_D = np.sqrt(np.maximum(share_D / largest, _LEAST_SHARE))
    return (basis_DD * root_D) @ basis_DD.T, (basis_DD / root_D) @ basis_DD.T


def _rounded(matrix: NDArray[np.floating]) -> Floats:
    """As it is stored: encoding and decoding see the same rounding."""
    return matrix.astype(np.float16).astype(np.float32)


def _codebooks(points_NK: NDArray[np.floating], size: int, samples: int) -> Codebooks:
    """Of `size` bytes, for points like these."""
    points_NK = points_NK.astype(np.float32)
    groups = eigenvalue_allocation(np.square(points_NK).mean(axis=0, dtype=np.float64), size)
    sample_SK = _sample(points_NK, samples)
    centroids_KV = np.concatenate([learned_centroids(sample_SK[:, group]).T for group in groups])
    return Codebooks(
        np.array([len(group) for group in groups], dtype=np.uint8),
        np.concatenate(groups).astype(np.uint16),
        _rounded(centroids_KV),
        np.ones(len(centroids_KV), dtype=np.float32),
    )


def eigenvalue_allocation(variance_K: Matrix, size: int) -> list[NDArray[np.int64]]:
    """Which components share each of `size` bytes.

    The largest that is left goes to the byte whose components have the smallest product of variances, among those that
    have room. So the first bytes have the largest components.
    """
    least = max(float(variance_K.max()) * _LEAST_VARIANCE, np.finfo(np.float64).tiny)
    weight_K = np.log(np.maximum(variance_K, least))
    weight_K -= weight_K.min()
    room = [len(part) for part in np.array_split(variance_K, size)]
    groups: list[list[int]] = [[] for _ in range(size)]
    product = [0.0] * size
    for component in np.argsort(-weight_K, kind="stable").tolist():
        byte = min((byte for byte in range(size) if len(groups[byte]) < room[byte]), key=product.__getitem__)
        groups[byte].append(component)
        product[byte] += weight_K[component]
    return [np.array(group, dtype=np.int64) for group in groups]


def _sample(points_NK: Floats, samples: int) -> Floats:
    """Some of the points; too few are filled up with normal ones of the same variance."""
    generator = np.random.default_rng(_SEED)
    if len(points_NK) >= samples:
        return points_NK[generator.choice(len(points_NK), samples, replace=False)]
    normal_SK = generator.standard_normal((samples - len(points_NK), points_NK.shape[1]), dtype=np.float32)
    return np.concatenate([points_NK, normal_SK * np.sqrt(np.square(points_NK).mean(axis=0))])


def learned_centroids(points_SM: Floats) -> Floats:
    """256 centroids (V, M): 16 coarse ones, 16 within each, then all refined."""
    coarse_CM = _clustered(points_SM, _spread_out(points_SM, _COARSE))
    coarse_S = nearest_centroids(points_SM, coarse_CM.T)
    clusters = [np.concatenate([coarse_CM[[c]], points_SM[coarse_S == c]]) for c in range(_COARSE)]  # none is empty
    fine = [_clustered(cluster, _spread_out(cluster, _COARSE)) for cluster in clusters]
    centroids_VM = _clustered(points_SM, np.concatenate(fine))
    assert centroids_VM.shape == (VALUES, points_SM.shape[1])
    return centroids_VM


def _spread_out(points_SM: Floats, count: int) -> Floats:
    """Initial centroids: points at equal quantiles of the first direction."""
    order = np.argsort(points_SM[:, 0], kind="stable")
    return points_SM[order[((np.arange(count) + 0.5) * len(order) / count).astype(np.int64)]]


def _clustered(points_SM: Floats, centroids_CM: Floats) -> Floats:
    """Lloyd's algorithm; a centroid without points stays where it is."""
    for _ in range(_ROUNDS):
        centroid_S = nearest_centroids(points_SM, centroids_CM.T)
        count_C = np.bincount(centroid_S, minlength=len(centroids_CM))
        columns = [np.bincount(centroid_S, weights=column, minlength=len(centroids_CM)) for column in points_SM.T]
        means_CM = (np.stack(columns, axis=1) / np.maximum(count_C, 1)[:, None]).astype(np.float32)
        centroids_CM = np.where(count_C[:, None] > 0, means_CM, centroids_CM)
    return centroids_CM
