"""Learns the code of a model's vectors from some of them.

What matters is the error of scores, not of vectors: a direction in which rows differ costs nothing if no question looks
there. With A the root of the second moment of questions and U the eigenvectors of A C A, where C is the covariance of
rows about their passage's mean, the numbers (x - mean) A U have falling shares in the variance of scores, and a score
is q·mean + (U' A^-1 q)·numbers.

Bits follow variances, but for small numbers: variances would drop them all, and the rows that questions look for fit in
many of these directions at once. For the same reason leaves lie further apart than the least squared error asks for,
and are stretched when they are read: they are on average too near to zero, by which right answers would lose most.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.quantize.base import passage_means
from densephrases.quantize.codebooks import VALUES, Codebooks, ProductQuantizer

_VECTOR = 384  # numbers of a vector that has so many
_NUMBERS = 256  # of them coded, in
_ROW_BYTES = 48
_PASSAGE_BYTES = 104
_LEAST_BITS = 0.5  # of a number
_LEAST_SHARE = 1e-4  # of the strongest direction: no direction counts as one in which no question will ever look
_WIDENED = 1.3  # times a number's spread
_SAMPLES = 20_000
_ROUNDS = 10
_BRANCHES = 16  # values of the upper four bits
_SEED = 20

Matrix = NDArray[np.float64]

# Shape suffixes: B questions, N rows, P passages, D vector size, K numbers, M numbers of a byte, S samples.


def learn_product_quantizer(
    questions_BD: Floats,
    vectors_ND: Floats,
    rows_P: NDArray[np.int64],
    row_bytes: int | None = None,
    samples: int = _SAMPLES,
) -> ProductQuantizer:
    """From start and end vectors of questions, and the rows of passages, of which each has so many.

    Args:
        questions_BD: Such as will be asked.
        vectors_ND: Rows, passage after passage.
        rows_P: How many each passage has.
        row_bytes: Of a row; None takes an eighth of the numbers of a vector.
        samples: Made-up numbers, spread as those of rows are, from which it is learned what the values of bytes say.
    """
    dim = vectors_ND.shape[1]
    numbers = _share(_NUMBERS, dim)
    if row_bytes is not None and not 0 < row_bytes <= numbers:
        raise ConfigError(f"A row of {dim} numbers cannot have {row_bytes} bytes; expected 1 to {numbers}.")
    mean_D = vectors_ND.mean(axis=0, dtype=np.float64)
    means_PD = passage_means(vectors_ND, rows_P)[rows_P > 0] - mean_D
    beyond_ND = vectors_ND - mean_D - np.repeat(means_PD, rows_P[rows_P > 0], axis=0)
    root_DD, inverse_DD = _roots(_moment(questions_BD))
    variance_D, basis_DD = np.linalg.eigh(root_DD @ _moment(beyond_ND) @ root_DD)
    order_K = np.argsort(-variance_D, kind="stable")[:numbers]
    projection_DK, reconstruction_KD = root_DD @ basis_DD[:, order_K], basis_DD[:, order_K].T @ inverse_DD
    passage_variance_K = np.square(means_PD @ projection_DK).mean(axis=0)
    return ProductQuantizer(
        mean_D.astype(np.float32),
        _rounded(projection_DK),
        _rounded(reconstruction_KD),
        _books(np.sqrt(np.maximum(variance_D[order_K], 0)), row_bytes or _share(_ROW_BYTES, dim), samples),
        _books(np.sqrt(passage_variance_K), _share(_PASSAGE_BYTES, dim), samples),
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
    """As it is stored: both ways see the same rounding."""
    return matrix.astype(np.float16).astype(np.float32)


def _books(spread_K: Matrix, size: int, samples: int) -> Codebooks:
    spread_K = np.maximum(spread_K, max(float(spread_K.max(initial=0.0)) * 1e-3, 1e-6))
    groups = shared_bytes(wanted_bits(spread_K, 8.0 * size), size)
    generator = np.random.default_rng(_SEED)
    shelves = [_Codebook.of(spread_K[group], generator.standard_normal((samples, len(group)))) for group in groups]
    return Codebooks(
        np.array([len(group) for group in groups], dtype=np.uint8),
        np.concatenate(groups).astype(np.uint16),
        _rounded(np.concatenate([shelf.centroids_VM.T for shelf in shelves])),
        np.concatenate([shelf.scale_M for shelf in shelves]).astype(np.float32),
    )


def wanted_bits(spread_K: Matrix, bits: float) -> Matrix:
    """Of each number, so many in all: each further bit halves the error of a number."""
    low, high = -64.0, 64.0
    for _ in range(64):
        error = (low + high) / 2
        bits_K = np.clip(np.log2(spread_K) - error, _LEAST_BITS, 8.0)
        low, high = (error, high) if bits_K.sum() > bits else (low, error)
    return np.asarray(bits_K)


def shared_bytes(bits_K: Matrix, size: int) -> list[NDArray[np.int64]]:
    """Which numbers share each of `size` bytes: the largest that is left, with as many of the next as fit."""
    left = np.argsort(-bits_K, kind="stable").tolist()
    groups = []
    for remaining in range(size, 0, -1):
        room = sum(bits_K[number] for number in left) / remaining
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
    def of(cls, spread_M: Matrix, normal_SM: Matrix) -> "_Codebook":
        """For numbers of these spreads, as if they were normal: 16 branches of 16 leaves each, then the best leaves."""
        plain_SM = normal_SM * spread_M
        wide_SM = _WIDENED * plain_SM
        branches = _clustered(wide_SM, _spread_out(wide_SM, _BRANCHES))
        branch_S = nearest(wide_SM, branches)
        twigs = [np.concatenate([branches[[b]], wide_SM[branch_S == b]]) for b in range(_BRANCHES)]  # none is empty
        centroids_VM = _clustered(wide_SM, np.concatenate([_clustered(t, _spread_out(t, _BRANCHES)) for t in twigs]))
        coded_SM = centroids_VM[nearest(plain_SM, centroids_VM)]
        products_M = (coded_SM * plain_SM).sum(axis=0)
        scale_M = np.where(products_M > 0, np.square(plain_SM).sum(axis=0) / np.maximum(products_M, 1e-30), 1.0)
        assert centroids_VM.shape == (VALUES, len(spread_M))
        return cls(centroids_VM, scale_M)


def _spread_out(points_SM: Matrix, count: int) -> Matrix:
    """Points from all over the first direction, to begin with."""
    order = np.argsort(points_SM[:, 0], kind="stable")
    return points_SM[order[((np.arange(count) + 0.5) * len(order) / count).astype(np.int64)]]


def _clustered(points_SM: Matrix, centres_CM: Matrix) -> Matrix:
    """Lloyd's rounds; a centre without points stays where it is."""
    for _ in range(_ROUNDS):
        centre_S = nearest(points_SM, centres_CM)
        count_C = np.bincount(centre_S, minlength=len(centres_CM))
        columns = [np.bincount(centre_S, weights=column, minlength=len(centres_CM)) for column in points_SM.T]
        means_CM = np.stack(columns, axis=1) / np.maximum(count_C, 1)[:, None]
        centres_CM = np.where(count_C[:, None] > 0, means_CM, centres_CM)
    return centres_CM


def nearest(points_SM: NDArray[np.floating], centres_CM: NDArray[np.floating]) -> NDArray[np.int64]:
    distances_SC = points_SM @ (-2 * centres_CM.T)
    distances_SC += np.square(centres_CM).sum(axis=1)
    return np.asarray(distances_SC.argmin(axis=1))
