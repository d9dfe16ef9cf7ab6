"""Weights of a linear ranking by a listwise softmax: the loss of a question is -log of the share of its right items.

Any of several right items will do (the shares are summed). Weights are regularised by their squares.
"""

from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.search.ranking.features import Numbers

_STEPS = 100
_HALVINGS = 30
_TOLERANCE = 1e-9  # of the loss
_LEAST_CURVATURE = 1e-9

# Shape suffixes: B questions, N items of all questions, F features.


@dataclass(frozen=True, slots=True)
class Lists:
    """The items of questions, one question after the other.

    Attributes:
        edges_B: The first item of each question; one more than questions.
        features_NF: Of each item.
        right_N: Whether it is right.
    """

    edges_B: Ints
    features_NF: Numbers
    right_N: Mask

    def informative(self) -> "Lists":
        """The questions with both right and wrong items: others say nothing about weights."""
        counts_B = np.diff(self.edges_B)
        right_B = _sums(self.right_N.astype(np.float64), self.edges_B)
        return self.take((right_B > 0) & (right_B < counts_B))

    def take(self, chosen_B: Mask) -> "Lists":
        counts_B = np.diff(self.edges_B)
        chosen_N = np.repeat(chosen_B, counts_B)
        edges_B = np.cumsum([0, *counts_B[chosen_B]])
        return Lists(edges_B, self.features_NF[chosen_N], self.right_N[chosen_N])

    def __len__(self) -> int:
        return len(self.edges_B) - 1

    def losses(self, weights_F: Numbers) -> Numbers:
        """Of each question; every one needs a right item."""
        logits_N = self.features_NF @ weights_F
        right_N = np.where(self.right_N, logits_N, -np.inf)
        return _log_sums(logits_N, self.edges_B) - _log_sums(right_N, self.edges_B)


def fit_weights(lists: Lists, l2_F: Numbers) -> Numbers:
    """The weights of least mean loss plus Σ l2 x weight² / 2, by Newton's method."""
    weights_F = np.zeros(lists.features_NF.shape[1])
    loss = _objective(lists, weights_F, l2_F)
    for _ in range(_STEPS):
        new_F, new_loss = _downhill(lists, weights_F, _newton_step(lists, weights_F, l2_F), l2_F, loss)
        if loss - new_loss <= _TOLERANCE:
            break
        weights_F, loss = new_F, new_loss
    return weights_F


def fit_nonnegative_weights(lists: Lists, l2_F: Numbers) -> Numbers:
    """As `fit_weights`; the feature with the most negative weight is dropped until none is negative."""
    used = np.ones(len(l2_F), dtype=bool)
    while True:
        weights = fit_weights(Lists(lists.edges_B, lists.features_NF[:, used], lists.right_N), l2_F[used])
        if not (weights < 0).any():
            break
        used[np.flatnonzero(used)[weights.argmin()]] = False
    weights_F = np.zeros(len(used))
    weights_F[used] = weights
    return weights_F


def _newton_step(lists: Lists, weights_F: Numbers, l2_F: Numbers) -> Numbers:
    """With the curvature of the loss, or where that is not convex, of its first term, which is: both lead downhill."""
    logits_N = lists.features_NF @ weights_F
    share_N = _shares(logits_N, lists.edges_B)
    right_share_N = _shares(np.where(lists.right_N, logits_N, -np.inf), lists.edges_B)
    gradient_F = lists.features_NF.T @ (share_N - right_share_N) / len(lists) + l2_F * weights_F
    convex_FF = _covariance(lists, share_N) + np.diag(l2_F)
    curvature_FF = convex_FF - _covariance(lists, right_share_N)
    if np.linalg.eigvalsh(curvature_FF)[0] > _LEAST_CURVATURE:
        return np.asarray(np.linalg.solve(curvature_FF, gradient_F), dtype=np.float64)
    return np.asarray(np.linalg.lstsq(convex_FF, gradient_F, rcond=None)[0], dtype=np.float64)


def _shares(logits_N: Numbers, edges_B: Ints) -> Numbers:
    return np.asarray(np.exp(logits_N - np.repeat(_log_sums(logits_N, edges_B), np.diff(edges_B))))


def _covariance(lists: Lists, share_N: Numbers) -> Numbers:
    """Of the features under each question's shares, averaged over questions."""
    weighted_NF = share_N[:, None] * lists.features_NF
    means_BF = np.add.reduceat(weighted_NF, lists.edges_B[:-1], axis=0)
    return np.asarray((lists.features_NF.T @ weighted_NF - means_BF.T @ means_BF) / len(lists))


def _downhill(lists: Lists, weights_F: Numbers, step_F: Numbers, l2_F: Numbers, loss: float) -> tuple[Numbers, float]:
    """After the whole step, or half of it, and so on."""
    for halving in range(_HALVINGS):
        new_F = weights_F - step_F / 2**halving
        new_loss = _objective(lists, new_F, l2_F)
        if new_loss < loss:
            return new_F, new_loss
    return weights_F, loss


def _objective(lists: Lists, weights_F: Numbers, l2_F: Numbers) -> float:
    return float(lists.losses(weights_F).mean() + (l2_F * weights_F**2).sum() / 2)


def _sums(values_N: Numbers, edges_B: Ints) -> Numbers:
    """Of each question; 0 where there is no item."""
    return np.diff(np.concatenate([[0.0], np.cumsum(values_N)])[edges_B])


def _log_sums(logits_N: Numbers, edges_B: Ints) -> Numbers:
    """The logarithm of the sum of exponentials of each question, which must have an item above -inf."""
    most_B = np.maximum.reduceat(logits_N, edges_B[:-1])
    return np.asarray(
        most_B + np.log(np.add.reduceat(np.exp(logits_N - np.repeat(most_B, np.diff(edges_B))), edges_B[:-1]))
    )
