"""How much reader and search count when answers are verified, and the confidence of verified answers.

`densephrases.evaluate.tune.verification` fits the weights; a model's configuration stores them as flat numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.errors import ConfigError
from densephrases.search.confidence import logistic

Numbers = NDArray[np.float64]

_CONFIDENCE = "confidence_"  # begins the stored names of the weights of a confidence

# Shape suffixes: K verified results of a question, F features.


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingFeatures:
    """What is known of a phrase in a passage that was read.

    Attributes:
        reader: The sum of its start and end logits.
        unverified: The confidence that search has in the same phrase; 0 if it is none of its results, or if the model
            has no confidences.
        log_probability: Of the phrase, by the reader, among all phrases of all tokens read for the question.
        margin: By how much its logit is above that of no answer in the passage; 0 where the model has none.
    """

    reader: float
    unverified: float
    log_probability: float
    margin: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedConfidence:
    """Weights of a logistic function: the probability that a verified answer is right.

    Attributes:
        score: Weight of the combined score of reader and search.
        gap: Weight of the difference to the best combined score of another verified passage, 0 if there is none.
        log_probability: Weight of `RankingFeatures.log_probability`.
        unverified: Weight of `RankingFeatures.unverified`.
        margin: Weight of `RankingFeatures.margin`.
    """

    intercept: float
    score: float
    gap: float
    log_probability: float
    unverified: float
    margin: float

    def probability(self, scores: Sequence[float], ranked: Sequence[RankingFeatures]) -> Numbers:
        """Of each verified answer of a question, given by descending score."""
        weights_F = np.array([self.score, self.gap, self.log_probability, self.unverified, self.margin])
        return logistic((confidence_features(scores, ranked) * weights_F).sum(axis=1) + self.intercept)


def confidence_features(scores: Sequence[float], ranked: Sequence[RankingFeatures]) -> Numbers:
    """(K, F): score, gap, log-probability, unverified confidence and margin."""
    scores_K = np.asarray(scores, dtype=np.float64)
    gap_K = scores_K - scores_K[:1]
    if len(scores_K):
        gap_K[0] = scores_K[0] - scores_K[1] if len(scores_K) > 1 else 0.0
    of_reader = [(each.log_probability, each.unverified, each.margin) for each in ranked]
    return np.column_stack([scores_K, gap_K, np.array(of_reader, dtype=np.float64).reshape(-1, 3)])


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationWeights:
    """How phrases that were read are ranked, and how `verify="auto"` decides.

    Attributes:
        reader, unverified: Weights of the features of these names.
        auto_below: "auto" reads a passage only if the confidence of the first answer is below this.
        further_below: And further ones only if that of the verified answer is below this.
        passages: Number of passages that "auto" reads at most.
        confidence: None takes the confidence that search has in the passage.
    """

    reader: float = 1.0
    unverified: float = 10.0
    auto_below: float = 0.5
    further_below: float = 0.5
    passages: int = 3
    confidence: VerifiedConfidence | None = None

    def score(self, phrase: RankingFeatures) -> float:
        """By which phrases of all passages that were read are ranked."""
        return self.reader * phrase.reader + self.unverified * phrase.unverified

    def to_dict(self) -> dict[str, float]:
        values = {name: float(getattr(self, name)) for name in _PLAIN}
        confidence = {} if self.confidence is None else asdict(self.confidence)
        return values | {f"{_CONFIDENCE}{name}": value for name, value in confidence.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "VerificationWeights":
        """What a model's configuration stores; names that are missing keep their defaults."""
        own = {name: value for name, value in values.items() if not name.startswith(_CONFIDENCE)}
        of_confidence = {n.removeprefix(_CONFIDENCE): v for n, v in values.items() if n.startswith(_CONFIDENCE)}
        _refuse_unfit(values, own, of_confidence)
        passages = int(own.pop("passages", cls.passages_by_default()))
        confidence = VerifiedConfidence(**of_confidence) if of_confidence else None
        return cls(**own, passages=passages, confidence=confidence)

    @staticmethod
    def passages_by_default() -> int:
        return VerificationWeights().passages


_PLAIN = [each.name for each in fields(VerificationWeights) if each.name != "confidence"]
_OF_CONFIDENCE = {each.name for each in fields(VerifiedConfidence)}


def _refuse_unfit(values: Mapping[str, Any], own: Mapping[str, Any], of_confidence: Mapping[str, Any]) -> None:
    whole = not of_confidence or of_confidence.keys() == _OF_CONFIDENCE
    numbers = all(isinstance(value, int | float) and np.isfinite(value) for value in values.values())
    if not whole or not numbers or not own.keys() <= set(_PLAIN) or own.get("passages", 1) < 1:
        names = [*_PLAIN, *(f"{_CONFIDENCE}{name}" for name in sorted(_OF_CONFIDENCE))]
        raise ConfigError(
            f"verification={dict(values)!r} are no weights; expected a number for some of {names}, all of a confidence "
            "or none, and at least one passage. Fit them again with `densephrases tune verification`."
        )
