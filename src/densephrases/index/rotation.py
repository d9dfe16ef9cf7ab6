"""A basis in which few numbers of a vector make nearly all of its scores.

What matters is the error of scores, not of vectors: a direction in which rows differ costs nothing if no question looks
there. With A the root of the second moment of questions and U the eigenvectors of A C A, where C is the covariance of
rows, the numbers (x - mean) A U have falling shares in the variance of scores, and a score is q·mean + (U' A^-1 q)·y.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.index.coder import Floats
from densephrases.model.statistics import VectorStatistics

_KNOWN_ROWS = 1 << 17  # the model's statistics count as so many: an index may begin with a single article
_MADE_UP_ROWS = 64  # without statistics, of mean 0 and equal spread: they steady a covariance from few rows
_LEAST_TYPICAL = 1e-6  # where all rows are equal
_LEAST_SHARE = 1e-4  # of the strongest direction: no direction counts as one in which no question will ever look

Matrix = NDArray[np.float64]

# Shape suffixes: B queries, N rows, D vector size, K numbers that are kept.


@dataclass(frozen=True, slots=True)
class Rotation:
    """Vectors to numbers and back. Matrices are of 16 bits, as they are stored: both ways see the same rounding."""

    mean_D: Floats
    forth_DK: Floats
    back_KD: Floats

    @classmethod
    def of(cls, vectors_ND: Floats, statistics: VectorStatistics | None, kept: int) -> tuple[Self, Floats]:
        """And the spread of each number; those beyond the vector size are zero."""
        dim = vectors_ND.shape[1]
        mean_D, covariance_DD = _spread(vectors_ND, statistics)
        root_DD, inverse_DD = _roots(np.eye(dim) if statistics is None else statistics.questions_DD.astype(np.float64))
        variance_D, basis_DD = np.linalg.eigh(root_DD @ covariance_DD @ root_DD)
        order_K = np.argsort(-variance_D, kind="stable")[:kept]
        missing = kept - len(order_K)
        forth_DK = np.pad(root_DD @ basis_DD[:, order_K], ((0, 0), (0, missing)))
        back_KD = np.pad(basis_DD[:, order_K].T @ inverse_DD, ((0, missing), (0, 0)))
        spread_K = np.pad(np.sqrt(np.maximum(variance_D[order_K], 0)), (0, missing))
        return cls(mean_D.astype(np.float32), _rounded(forth_DK), _rounded(back_KD)), spread_K.astype(np.float32)

    def numbers(self, vectors_ND: Floats) -> Floats:
        return np.asarray((vectors_ND - self.mean_D) @ self.forth_DK, dtype=np.float32)

    def vectors(self, numbers_NK: Floats) -> Floats:
        return np.asarray(numbers_NK @ self.back_KD + self.mean_D, dtype=np.float32)

    def queries(self, queries_BD: Floats) -> Floats:
        """Their products with numbers are scores but for what the mean scores."""
        # Not by BLAS: its threads, once woken, keep cores busy for 70 ms, which faiss needs next.
        return np.asarray(np.einsum("bd,kd->bk", queries_BD, self.back_KD), dtype=np.float32)


def _spread(vectors_ND: Floats, statistics: VectorStatistics | None) -> tuple[Matrix, Matrix]:
    """Mean and covariance of some rows and of those from which the model's statistics come."""
    count, dim = vectors_ND.shape
    if statistics is None and count == 0:
        return np.zeros(dim), np.eye(dim)
    known = _KNOWN_ROWS if statistics is not None else _MADE_UP_ROWS
    before_D = np.zeros(dim) if statistics is None else statistics.mean_D.astype(np.float64)
    mean_D = (vectors_ND.sum(axis=0, dtype=np.float64) + known * before_D) / (count + known)
    centred_ND = vectors_ND - mean_D
    squares_DD = (centred_ND.T @ centred_ND).astype(np.float64)
    if statistics is None:
        before_DD = max(float(np.trace(squares_DD)) / count / dim, _LEAST_TYPICAL**2) * np.eye(dim)
    else:
        before_DD = statistics.tokens_DD + np.outer(before_D - mean_D, before_D - mean_D)
    return mean_D, (squares_DD + known * before_DD) / (count + known)


def _roots(moment_DD: Matrix) -> tuple[Matrix, Matrix]:
    """The square root of a symmetric matrix and the root's inverse; scaled, as only directions matter."""
    share_D, basis_DD = np.linalg.eigh(moment_DD)
    largest = share_D[-1] if share_D[-1] > 0 else 1.0
    root_D = np.sqrt(np.maximum(share_D / largest, _LEAST_SHARE))
    return (basis_DD * root_D) @ basis_DD.T, (basis_DD / root_D) @ basis_DD.T


def _rounded(matrix: Matrix) -> Floats:
    return matrix.astype(np.float16).astype(np.float32)
