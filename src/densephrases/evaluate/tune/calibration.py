"""Fits the weights of a confidence by logistic regression."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from densephrases.errors import ConfigError
from densephrases.evaluate.extra import require
from densephrases.search.confidence import Calibration, Numbers, features
from densephrases.search.explain.evidence import Evidence

# Scores of a trained model lie far apart: at temperature 1 their softmax gives nearly everything to the first result.
TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0)
L2 = 1e-3  # relative to the mean loss, on features of unit variance; keeps the weights of separable data finite

_TOLERANCE = 1e-8

# Shape suffixes: N results of all questions, F features.


def fit_calibration(
    score_lists: Sequence[ArrayLike],
    correct: Sequence[Sequence[bool]],
    evidence: Sequence[Sequence[Evidence]] = (),
    l2: float = L2,
) -> Calibration:
    """Maximum likelihood over weights and temperature.

    A feature whose weight would be negative is dropped: no result may get more confidence than a better one.

    Args:
        score_lists: For each question the scores of its results, best first.
        correct: For each question whether its first results are right. One value a question fits the confidence of the
            first result only.
        evidence: For each question that of its first results; without any, evidence has no weight.
        l2: Strength of the L2 penalty.
    """
    require("sklearn")
    correct_N = np.array([right for each in correct for right in each], dtype=np.float64)
    _refuse_unfit(score_lists, correct, correct_N)
    fits = []
    for temperature in TEMPERATURES:
        lists = zip(score_lists, correct, evidence or [()] * len(correct), strict=True)
        rows = [features(s, temperature, e)[: len(c)] for s, c, e in lists]
        loss, intercept, weights_F = fit_nonnegative(np.concatenate(rows), correct_N, l2)
        score, gap, share, *against = weights_F.tolist()
        fits.append((loss, Calibration(intercept, score, gap, share, temperature, *against)))
    return min(fits, key=lambda fit: fit[0])[1]


def _refuse_unfit(score_lists: Sequence[ArrayLike], correct: Sequence[Sequence[bool]], correct_N: Numbers) -> None:
    if any(len(c) > len(np.asarray(s)) for s, c in zip(score_lists, correct, strict=True)):
        raise ConfigError("There are more truth values than results; expected one for each of the first results.")
    if not 0 < correct_N.sum() < len(correct_N):
        raise ConfigError(
            f"Of {len(correct_N)} results {int(correct_N.sum())} are right; confidence needs examples of both."
        )


def fit_nonnegative(features_NF: Numbers, correct_N: Numbers, l2: float) -> tuple[float, float, Numbers]:
    """Loss, intercept and weights; drops the feature with the most negative weight until none is negative."""
    used = features_NF.std(axis=0) > 0  # a feature that is always the same, such as evidence not given, tells nothing
    while True:
        intercept, weights = _logistic_regression(features_NF[:, used], correct_N, l2)
        if not (weights < 0).any():
            break
        used[np.flatnonzero(used)[weights.argmin()]] = False
    weights_F = np.zeros(len(used))
    weights_F[used] = weights
    logits_N = features_NF @ weights_F + intercept
    return float((np.logaddexp(0, logits_N) - correct_N * logits_N).mean()), intercept, weights_F


def _logistic_regression(features_NF: Numbers, correct_N: Numbers, l2: float) -> tuple[float, Numbers]:
    """Intercept and weights of the features as given; the penalty applies to standardised features."""
    from sklearn.linear_model import LogisticRegression

    if not features_NF.shape[1]:  # scikit-learn wants at least one
        mean = float(correct_N.mean())
        return float(np.log(mean / (1 - mean))), np.zeros(0)
    mean_F, scale_F = features_NF.mean(axis=0), features_NF.std(axis=0)
    scale_F = np.where(scale_F > 0, scale_F, 1.0)
    strength = 1 / (l2 * len(correct_N)) if l2 else np.inf
    model = LogisticRegression(C=strength, solver="newton-cholesky", tol=_TOLERANCE)
    model.fit((features_NF - mean_F) / scale_F, correct_N)
    weights_F = model.coef_[0] / scale_F
    return float(model.intercept_[0] - weights_F @ mean_F), weights_F
