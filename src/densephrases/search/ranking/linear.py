"""The final ranking: a linear model over the features of a question's first phrases.

`densephrases.evaluate.tune.ranking` fits the weights.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from densephrases.arrays import Floats, inner_products
from densephrases.errors import ConfigError
from densephrases.search.passages import PassageTexts
from densephrases.search.ranking.contenders import CONTENDERS, Contenders
from densephrases.search.ranking.features import FEATURES, Numbers, phrase_features, share_features
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import Phrases

TEMPERATURE = "temperature"

# Shape suffixes: N phrases, F features.


@dataclass(frozen=True, slots=True)
class PhraseRanking:
    """Adds weight x feature to the scores of a question's first phrases and sorts them again.

    Attributes:
        weights: By the names of features; those without a weight do not count.
        temperature: Scores are divided by it before the softmax of the features that compare phrases.
    """

    weights: Mapping[str, float]
    temperature: float = 1.0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        for name, value in values.items():
            if name not in (*FEATURES, TEMPERATURE):
                raise ConfigError(
                    f"{name!r} is no feature of a ranking; expected some of {', '.join((TEMPERATURE, *FEATURES))}. "
                    "Fit it again with `densephrases tune ranking`."
                )
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number or (name == TEMPERATURE and value <= 0):
                expected = "a positive number" if name == TEMPERATURE else "a number"
                raise ConfigError(f"{name}={value!r} of a ranking is not {expected}.")
        weights = {name: float(value) for name, value in values.items() if name != TEMPERATURE}
        return cls(weights, float(values.get(TEMPERATURE, 1.0)))

    def to_dict(self) -> dict[str, float]:
        return {TEMPERATURE: self.temperature, **self.weights}

    def scores(self, contenders: Contenders, terms: QuestionTerms | None) -> Floats:
        """The final scores of phrases: their former ones plus those of the features."""
        if not self.weights:
            return contenders.score_N
        features = [phrase_features(contenders, terms), share_features(contenders, self.temperature)]
        return self.add(contenders.score_N, np.concatenate(features, axis=1))

    def add(self, score_N: Floats, features_NF: Numbers) -> Floats:
        weights_F = np.array([self.weights.get(name, 0.0) for name in FEATURES])
        return np.asarray(score_N + inner_products(features_NF, weights_F), dtype=np.float32)

    def ranked(self, found: Sequence[Phrases], terms: QuestionTerms | None, texts: PassageTexts) -> list[Phrases]:
        """The results of each question, given best first, with their final scores and in their final order.

        Results after the first `CONTENDERS` stay where they are, with at most the score of the last one before them.
        """
        heads = [phrases.take(slice(CONTENDERS)) for phrases in found]
        if not any(map(len, heads)):
            return list(found)
        contenders = Contenders.from_phrases(heads, terms, texts)
        parts = np.split(self.scores(contenders, terms), contenders.edges_B[1:-1])
        return [phrases.rescored(score_N) for phrases, score_N in zip(found, parts, strict=True)]
