"""Weights of reader and search: what is stored, and the confidence of verified answers."""

from typing import Any

import numpy as np
import pytest

from densephrases.errors import ConfigError
from densephrases.search.verification.weights import (
    RankingFeatures,
    VerificationWeights,
    VerifiedConfidence,
    confidence_features,
)

CONFIDENCE = VerifiedConfidence(intercept=-1.0, score=0.1, gap=0.2, log_probability=0.3, unverified=2.0, margin=0.4)


def features(reader: float, unverified: float = 0.5, log: float = -1.0, margin: float = 0.0) -> Any:
    return RankingFeatures(reader=reader, unverified=unverified, log_probability=log, margin=margin)


def test_the_score_is_a_weighted_sum() -> None:
    weights = VerificationWeights(reader=2.0, unverified=3.0)
    assert weights.score(features(1.0, 0.5, margin=8.0)) == 2.0 + 1.5


@pytest.mark.parametrize("confidence", [None, CONFIDENCE])
def test_what_is_stored_comes_back(confidence: VerifiedConfidence | None) -> None:
    weights = VerificationWeights(reader=1.5, auto_below=0.7, passages=2, confidence=confidence)
    stored = weights.to_dict()
    assert all(isinstance(value, float) for value in stored.values())
    assert VerificationWeights.from_dict(stored) == weights
    assert VerificationWeights.from_dict({"reader": 2.0}) == VerificationWeights(reader=2.0)


@pytest.mark.parametrize(
    "values",
    [
        {"writer": 1.0},
        {"reader": "much"},
        {"reader": float("nan")},
        {"passages": 0},
        {"confidence_intercept": 1.0},
        {f"confidence_{name}": 1.0 for name in ("intercept", "score", "gap", "log_probability", "luck")},
    ],
    ids=str,
)
def test_other_values_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"are no weights; expected a number for some of .*'auto_below'.*tune verif"):
        VerificationWeights.from_dict(values)


def test_confidence_is_a_logistic_function_of_five_features() -> None:
    ranked = [features(0, 0.8, -0.5, 4.0), features(0, 0.1, -2.0, -3.0)]
    rows = confidence_features([5.0, 3.0], ranked)
    assert rows.tolist() == [[5.0, 2.0, -0.5, 0.8, 4.0], [3.0, -2.0, -2.0, 0.1, -3.0]]
    logits = rows @ np.array([0.1, 0.2, 0.3, 2.0, 0.4]) - 1.0
    np.testing.assert_allclose(CONFIDENCE.probability([5.0, 3.0], ranked), 1 / (1 + np.exp(-logits)))
    assert confidence_features([5.0], ranked[:1]).tolist() == [[5.0, 0.0, -0.5, 0.8, 4.0]]
    assert confidence_features([], []).shape == (0, 5)
