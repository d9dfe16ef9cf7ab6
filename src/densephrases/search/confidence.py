"""From the scores of a result list to the probability that a result is right.

`densephrases.evaluate.tune.calibration` fits the weights.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from densephrases.arrays import inner_products
from densephrases.errors import ConfigError

# Results in the softmax: the same number whatever k a caller asks for, so that confidence does not depend on k.
RIVALS = 10

Numbers = NDArray[np.float64]

# Shape suffixes: K results of a question, F features.


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of a logistic function of three features. No feature increases from a result to the next.

    Attributes:
        score: Weight of the result's score.
        gap: Weight of the difference to the best score of another result.
        share: Weight of the logarithm of the result's share in the softmax of the best `RIVALS` scores.
        temperature: Scores are divided by it before that softmax.
    """

    intercept: float
    score: float
    gap: float
    share: float
    temperature: float = 1.0

    def probability(self, scores: ArrayLike) -> Numbers:
        """Of each result, given the scores of a question's distinct results, best first; at least `RIVALS` if found."""
        weights = np.array([self.score, self.gap, self.share])
        return logistic(inner_products(features(scores, self.temperature), weights) + self.intercept)

    def to_dict(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Calibration":
        names = {f.name for f in fields(cls)}
        if values.keys() != names or not all(isinstance(value, int | float) for value in values.values()):
            raise ConfigError(
                f"{dict(values)!r} is not a calibration; expected a number for each of {sorted(names)}. "
                "Fit it again with `densephrases tune confidence`."
            )
        return cls(**{name: float(value) for name, value in values.items()})


def features(scores: ArrayLike, temperature: float = 1.0) -> Numbers:
    """Score, gap to the best other result, logarithm of the softmax share: (K, F). The gap of a single result is 0."""
    scores_K = np.asarray(scores, dtype=np.float64)
    if len(scores_K) == 0:
        return np.zeros((0, 3))
    gap_K = scores_K - scores_K[0]
    gap_K[0] = scores_K[0] - scores_K[1] if len(scores_K) > 1 else 0.0
    below_K = (scores_K - scores_K[0]) / temperature
    share_K = below_K - np.log(np.exp(below_K[:RIVALS]).sum())
    return np.stack([scores_K, gap_K, share_K], axis=1)


def logistic(logits: Numbers) -> Numbers:
    return np.asarray(0.5 * (1 + np.tanh(logits / 2)))
