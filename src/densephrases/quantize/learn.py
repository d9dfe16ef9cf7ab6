"""Learns the product quantizer of a model from vectors of questions and passages.

What matters is the error of scores, not of vectors: a direction in which token vectors differ costs nothing if no
question points there. Let A be the root of the second moment of question vectors, C the covariance of token vectors
about their passage's centroid, and U the eigenvectors of A C A. The components (x - mean) A U then have falling shares
in the variance of scores, and a score is q·mean + (U' A^-1 q)·components.

Bits are allocated by variance, but no component gets less than half a bit: otherwise all small ones would be dropped,
and the right answers match a question in many of these directions at once. For the same reason centroids lie further
apart than the least squared error asks for, and are scaled when they are decoded: on average they are too close to
zero, which would cost right answers most.
"""

from dataclasses import dataclass

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
_LEAST_BITS = 0.5  # of a component
_LEAST_SHARE = 1e-4  # of the strongest direction: some question may point in any of them
_WIDENED = 1.3  # times a component's spread
_SAMPLES = 20_000
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
    """From start and end vectors of questions and the token vectors of passages.

    Args:
        questions_BD: Like those that will be asked.
        vectors_ND: Token vectors, passage after passage.
        rows_P: How many of them each passage has.
        row_bytes: Bytes of an encoded token vector; None takes an eighth of the vector size.
        samples: Random points, with the variance of token vectors, from which centroids are learned.
    """
    dim = vectors_ND.shape[1]
    components = _share(_COMPONENTS, dim)
    if row_bytes is not None and not 0 < row_bytes <= components:
        raise ConfigError(f"A token vector of size {dim} cannot have {row_bytes} bytes; expected 1 to {components}.")
    mean_D = vectors_ND.mean(axis=0, dtype=np.float64)
    centroids_PD = passage_centroids(vectors_ND, rows_P)[rows_P > 0] - mean_D
    residuals_ND = vectors_ND - mean_D - np.repeat(centroids_PD, rows_P[rows_P > 0], axis=0)
    root_DD, inverse_DD = _roots(_moment(questions_BD))
    variance_D, basis_DD = np.linalg.eigh(root_DD @ _moment(residuals_ND) @ root_DD)
    order_K = np.argsort(-variance_D, kind="stable")[:components]
    projection_DK, reconstruction_KD = root_DD @ basis_DD[:, order_K], basis_DD[:, order_K].T @ inverse_DD
    passage_variance_K = np.square(centroids_PD @ projection_DK).mean(axis=0)
    return ProductQuantizer(
        mean_D.astype(np.float32),
        _rounded(projection_DK),
        _rounded(reconstruction_KD),
        _codebooks(np.sqrt(np.maximum(variance_D[order_K], 0)), row_bytes or _share(_ROW_BYTES, dim), samples),
        _codebooks(np.sqrt(passage_variance_K), _share(_PASSAGE_BYTES, dim), samples),
    )


def _share(count: int, dim: int) -> int:
    return min(-(-count * dim // _VECTOR), dim)


def _moment(vectors_ND: Floats) -> Matrix:
    vectors_ND = vectors_ND.astype(np.float64)
    return np.asarray(vectors_ND.T @ vectors_ND / max(len(vectors_ND), 1))


def _roots(moment_DD: Matrix) -> tuple[Matrix, Matrix]:
    """The square root of a symmetric matrix and the root's inverse; scaled, as only directions matter."""
    share_D, basis_DD = np.linalg.eigh(moment_DD)
    largest = share_D[-1] if share_D[-1] > 0 else 1.0
    root_D = np.sqrt(np.maximum(share_D / largest, _LEAST_SHARE))
    return (basis_DD * root_D) @ basis_DD.T, (basis_DD / root_D) @ basis_DD.T


def _rounded(matrix: Matrix) -> Floats:
    """As it is stored: encoding and decoding see the same rounding."""
    return matrix.astype(np.float16).astype(np.float32)


def _codebooks(spread_K: Matrix, size: int, samples: int) -> Codebooks:
    spread_K = np.maximum(spread_K, max(float(spread_K.max(initial=0.0)) * 1e-3, 1e-6))
    groups = shared_bytes(wanted_bits(spread_K, 8.0 * size), size)
    generator = np.random.default_rng(_SEED)
    codebooks = [_Codebook.learn(spread_K[group], generator.standard_normal((samples, len(group)))) for group in groups]
    return Codebooks(
        np.array([len(group) for group in groups], dtype=np.uint8),
        np.concatenate(groups).astype(np.uint16),
        _rounded(np.concatenate([codebook.centroids_VM.T for codebook in codebooks])),
        np.concatenate([codebook.scale_M for codebook in codebooks]).astype(np.float32),
    )


def wanted_bits(spread_K: Matrix, bits: float) -> Matrix:
    """Bits of each component, `bits` in all: each further bit halves the error of a component."""
    low, high = -64.0, 64.0
    for _ in range(64):
        error = (low + high) / 2
        bits_K = np.clip(np.log2(spread_K) - error, _LEAST_BITS, 8.0)
        low, high = (error, high) if bits_K.sum() > bits else (low, error)
    return np.asarray(bits_K)


def shared_bytes(bits_K: Matrix, size: int) -> list[NDArray[np.int64]]:
    """Which components share each of `size` bytes: the largest that is left, with as many of the next as fit."""
    left = np.argsort(-bits_K, kind="stable").tolist()
    groups = []
    for remaining in range(size, 0, -1):
        room = sum(bits_K[component] for component in left) / remaining
        group = [left.pop(0)]
        used, place = bits_K[group[0]], 0
        while place < len(left) >= remaining and used < room:
            if used + bits_K[left[place]] <= room + _LEAST_BITS / 2:
                used += bits_K[left[place]]
                group.append(left.pop(place))
            else:
                place += 1
        groups.append(group)
    groups[-1] += left
    return [np.array(sorted(group), dtype=np.int64) for group in groups]


@dataclass(frozen=True, slots=True)
class _Codebook:
    """Of one byte."""

    centroids_VM: Matrix
    scale_M: Matrix

    @classmethod
    def learn(cls, spread_M: Matrix, normal_SM: Matrix) -> "_Codebook":
        """For normal components of these spreads: 16 coarse centroids, 16 within each, then all 256 refined."""
        plain_SM = normal_SM * spread_M
        wide_SM = _WIDENED * plain_SM
        coarse_CM = _clustered(wide_SM, _spread_out(wide_SM, _COARSE))
        coarse_S = nearest_centroids(wide_SM, coarse_CM.T)
        clusters = [np.concatenate([coarse_CM[[c]], wide_SM[coarse_S == c]]) for c in range(_COARSE)]  # none is empty
        fine = [_clustered(cluster, _spread_out(cluster, _COARSE)) for cluster in clusters]
        centroids_VM = _clustered(wide_SM, np.concatenate(fine))
        decoded_SM = centroids_VM[nearest_centroids(plain_SM, centroids_VM.T)]
        products_M = (decoded_SM * plain_SM).sum(axis=0)
        scale_M = np.where(products_M > 0, np.square(plain_SM).sum(axis=0) / np.maximum(products_M, 1e-30), 1.0)
        assert centroids_VM.shape == (VALUES, len(spread_M))
        return cls(centroids_VM, scale_M)


def _spread_out(points_SM: Matrix, count: int) -> Matrix:
    """Initial centroids: points at equal quantiles of the first direction."""
    order = np.argsort(points_SM[:, 0], kind="stable")
    return points_SM[order[((np.arange(count) + 0.5) * len(order) / count).astype(np.int64)]]


def _clustered(points_SM: Matrix, centroids_CM: Matrix) -> Matrix:
    """Lloyd's algorithm; a centroid without points stays where it is."""
    for _ in range(_ROUNDS):
        centroid_S = nearest_centroids(points_SM, centroids_CM.T)
        count_C = np.bincount(centroid_S, minlength=len(centroids_CM))
        columns = [np.bincount(centroid_S, weights=column, minlength=len(centroids_CM)) for column in points_SM.T]
        means_CM = np.stack(columns, axis=1) / np.maximum(count_C, 1)[:, None]
        centroids_CM = np.where(count_C[:, None] > 0, means_CM, centroids_CM)
    return centroids_CM
