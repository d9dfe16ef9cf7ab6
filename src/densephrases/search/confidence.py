"""From the scores of a result list to the probability that each result is right."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from densephrases.errors import ConfigError

# Results that the softmax is over: fixed, so that confidences depend neither on k nor on the size of the collection.
RIVALS = 10
# Temperatures of the softmax that are tried in fitting: scores of a trained model are so far apart that at temperature
# 1 the first result gets nearly all of the probability.
TEMPERATURES = (1.0, 2.0, 4.0, 8.0, 16.0)
L2 = 1e-3  # of the mean loss, on features of unit variance: only there to keep separable data finite

_ROUNDS = 50
_CONVERGED = 1e-9

Numbers = NDArray[np.float64]

# Shape suffixes: K results of a question, N results of all questions, F features.


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of a logistic function of three features, none of which rises with rank.

    Attributes:
        score: Weight of the result's score.
        gap: Weight of the difference to the best score of another result.
        share: Weight of the log-softmax of the score among the best results.
        temperature: Of that softmax.
    """

    intercept: float
    score: float
    gap: float
    share: float
    temperature: float = 1.0

    def probability(self, scores: ArrayLike) -> Numbers:
        """Of each result, given the scores of a question's distinct results, best first: at least `RIVALS`."""
        weights = np.array([self.score, self.gap, self.share])
        return _logistic(features(scores, self.temperature) @ weights + self.intercept)

    @classmethod
    def fit(cls, score_lists: Sequence[ArrayLike], correct: Sequence[Sequence[bool]], l2: float = L2) -> "Calibration":
        """By maximum likelihood, from the result lists of questions and which of their first results are right.

        `correct` may be shorter than the list: a single truth value a question fits what is shown first. A feature
        whose weight would be negative is left out, so that no result is given more confidence than a better one.
        """
        correct_N = np.array([right for each in correct for right in each], dtype=np.float64)
        _refuse_one_sided(score_lists, correct, correct_N)
        fits = [_fit(score_lists, correct, correct_N, temperature, l2) for temperature in TEMPERATURES]
        return min(fits, key=lambda fit: fit[0])[1]

    def to_dict(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Calibration":
        names = {f.name for f in fields(cls)}
        if values.keys() != names or not all(isinstance(value, int | float) for value in values.values()):
            raise ConfigError(f"{dict(values)!r} is not a calibration; expected a number for each of {sorted(names)}.")
        return cls(**{name: float(value) for name, value in values.items()})


def _refuse_one_sided(score_lists: Sequence[ArrayLike], correct: Sequence[Sequence[bool]], correct_N: Numbers) -> None:
    if any(len(c) > len(np.asarray(s)) for s, c in zip(score_lists, correct, strict=True)):
        raise ConfigError("There are more truth values than results; expected one for each of the first results.")
    if not 0 < correct_N.sum() < len(correct_N):
        raise ConfigError(
            f"Of {len(correct_N)} results {int(correct_N.sum())} are right; confidence needs examples of both."
        )


def _fit(
    score_lists: Sequence[ArrayLike],
    correct: Sequence[Sequence[bool]],
    correct_N: Numbers,
    temperature: float,
    l2: float,
) -> tuple[float, Calibration]:
    """The loss on the examples, and the weights that have it."""
    rows = [features(s, temperature)[: len(c)] for s, c in zip(score_lists, correct, strict=True)]
    features_NF = np.concatenate(rows)
    intercept, weights_F = _nonnegative(features_NF, correct_N, l2)
    logits_N = features_NF @ weights_F + intercept
    loss = float((np.logaddexp(0, logits_N) - correct_N * logits_N).mean())
    score, gap, share = weights_F.tolist()
    return loss, Calibration(intercept, score, gap, share, temperature)


def features(scores: ArrayLike, temperature: float = 1.0) -> Numbers:
    """Score, gap to the best other result and logarithm of the softmax share, (K, F); an only result has no gap."""
    scores_K = np.asarray(scores, dtype=np.float64)
    if len(scores_K) == 0:
        return np.zeros((0, 3))
    gap_K = scores_K - scores_K[0]
    gap_K[0] = scores_K[0] - scores_K[1] if len(scores_K) > 1 else 0.0
    below_K = (scores_K - scores_K[0]) / temperature
    share_K = below_K - np.log(np.exp(below_K[:RIVALS]).sum())
    return np.stack([scores_K, gap_K, share_K], axis=1)


def _nonnegative(features_NF: Numbers, correct_N: Numbers, l2: float) -> tuple[float, Numbers]:
    """The weights of the largest set of features found by leaving out the most negative again and again."""
    used = np.ones(features_NF.shape[1], dtype=bool)
    while True:
        intercept, weights = _logistic_regression(features_NF[:, used], correct_N, l2)
        if not (weights < 0).any():
            break
        used[np.flatnonzero(used)[weights.argmin()]] = False
    weights_F = np.zeros(len(used))
    weights_F[used] = weights
    return intercept, weights_F


def _logistic_regression(features_NF: Numbers, correct_N: Numbers, l2: float) -> tuple[float, Numbers]:
    """Newton's method on standardised features; the weights are those of the features as given."""
    mean_F, scale_F = features_NF.mean(axis=0), features_NF.std(axis=0)
    scale_F = np.where(scale_F > 0, scale_F, 1.0)
    inputs_NF = np.hstack([np.ones((len(features_NF), 1)), (features_NF - mean_F) / scale_F])
    penalty_F = np.full(inputs_NF.shape[1], l2)
    penalty_F[0] = 0.0
    weights_F = np.zeros(inputs_NF.shape[1])
    for _ in range(_ROUNDS):
        step_F = _newton_step(inputs_NF, correct_N, weights_F, penalty_F)
        weights_F = weights_F + step_F
        if np.abs(step_F).max() < _CONVERGED:
            break
    raw_F = weights_F[1:] / scale_F
    return float(weights_F[0] - raw_F @ mean_F), raw_F


def _newton_step(inputs_NF: Numbers, correct_N: Numbers, weights_F: Numbers, penalty_F: Numbers) -> Numbers:
    """Halved until the loss does not rise: far from the optimum a whole step may overshoot."""
    guess_N = _logistic(inputs_NF @ weights_F)
    gradient_F = inputs_NF.T @ (guess_N - correct_N) / len(correct_N) + penalty_F * weights_F
    curvature_N = np.maximum(guess_N * (1 - guess_N), 1e-12) / len(correct_N)
    hessian_FF = inputs_NF.T @ (inputs_NF * curvature_N[:, None]) + np.diag(penalty_F)
    step_F = -np.linalg.lstsq(hessian_FF, gradient_F, rcond=None)[0]
    loss = _loss(inputs_NF, correct_N, weights_F, penalty_F)
    while _loss(inputs_NF, correct_N, weights_F + step_F, penalty_F) > loss and np.abs(step_F).max() > _CONVERGED:
        step_F = step_F / 2
    return np.asarray(step_F)


def _loss(inputs_NF: Numbers, correct_N: Numbers, weights_F: Numbers, penalty_F: Numbers) -> float:
    logits_N = inputs_NF @ weights_F
    return float((np.logaddexp(0, logits_N) - correct_N * logits_N).mean() + (penalty_F * weights_F**2).sum() / 2)


def _logistic(logits: Numbers) -> Numbers:
    return np.asarray(0.5 * (1 + np.tanh(logits / 2)))
