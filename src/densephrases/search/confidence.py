"""From the scores of a result list to the probability that a result is right.

`densephrases.evaluate.tune.calibration` fits the weights, and `own_confidence` beside it a slope and a shift of all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from densephrases.arrays import inner_products
from densephrases.errors import ConfigError
from densephrases.search.explain.evidence import Evidence

# Results in the softmax: the same number whatever k a caller asks for, so that confidence does not depend on k.
RIVALS = 10

Numbers = NDArray[np.float64]

_EVIDENCE = [each.name for each in fields(Evidence)]

# Shape suffixes: K results of a question, F features.


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights of a logistic function. No result gets more confidence than the one before it.

    Attributes:
        score: Weight of the result's score.
        gap: Weight of the difference to the best score of another result.
        share: Weight of the logarithm of the result's share in the softmax of the best `RIVALS` scores.
        temperature: Scores are divided by it before that softmax.
        missing, unstated, names, unknown: Weights of the evidence against a result, see `Evidence`.
    """

    intercept: float
    score: float
    gap: float
    share: float
    temperature: float = 1.0
    missing: float = 0.0
    unstated: float = 0.0
    names: float = 0.0
    unknown: float = 0.0

    def probability(self, scores: ArrayLike, evidence: Sequence[Evidence] = ()) -> Numbers:
        """Of each result, given the scores of a question's distinct results, best first; at least `RIVALS` if found.

        `evidence` belongs to the first results; those after them have at most the confidence of the last of these.
        """
        return np.minimum.accumulate(logistic(self.logits(scores, evidence)))

    def logits(self, scores: ArrayLike, evidence: Sequence[Evidence] = ()) -> Numbers:
        """Of each result by itself."""
        features_KF = features(scores, self.temperature, evidence)
        weights_F = np.array([self.score, self.gap, self.share, *self._against])
        return inner_products(features_KF, weights_F) + self.intercept

    def rescaled(self, slope: float, shift: float) -> "Calibration":
        """One whose logits are `slope` times these plus `shift`."""
        weights = {name: value * slope for name, value in self.to_dict().items() if name != "temperature"}
        return replace(self, **weights | {"intercept": weights["intercept"] + shift})

    @property
    def weighs_evidence(self) -> bool:
        return any(self._against)

    @property
    def _against(self) -> Sequence[float]:
        return [getattr(self, name) for name in _EVIDENCE]

    def to_dict(self) -> dict[str, float]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Calibration":
        names = {f.name for f in fields(cls)}
        unfit = names - values.keys() - set(_EVIDENCE) or values.keys() - names
        if unfit or not all(isinstance(value, int | float) for value in values.values()):
            raise ConfigError(
                f"{dict(values)!r} is not a calibration; expected a number for each of {sorted(names)}. "
                "Fit it again with `densephrases tune confidence`."
            )
        return cls(**{name: float(value) for name, value in values.items()})


def features(scores: ArrayLike, temperature: float = 1.0, evidence: Sequence[Evidence] = ()) -> Numbers:
    """Score, gap to the best other result, logarithm of the softmax share, evidence with a minus: (K, F).

    The gap of a single result is 0, as is evidence that is not given.
    """
    scores_K = np.asarray(scores, dtype=np.float64)
    against_KF = np.zeros((len(scores_K), len(_EVIDENCE)))
    for row_F, each in zip(against_KF, evidence, strict=False):
        row_F[:] = each.values()
    if len(scores_K) == 0:
        return np.zeros((0, 3 + len(_EVIDENCE)))
    gap_K = scores_K - scores_K[0]
    gap_K[0] = scores_K[0] - scores_K[1] if len(scores_K) > 1 else 0.0
    below_K = (scores_K - scores_K[0]) / temperature
    share_K = below_K - np.log(np.exp(below_K[:RIVALS]).sum())
    return np.column_stack([scores_K, gap_K, share_K, -against_KF])


def logistic(logits: Numbers) -> Numbers:
    return np.asarray(0.5 * (1 + np.tanh(logits / 2)))
