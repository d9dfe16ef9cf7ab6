"""The logistic function of result lists, on cases worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import ConfigError
from densephrases.search.confidence import Calibration, features
from densephrases.search.explain.evidence import Evidence

SCORES = st.lists(st.floats(-50, 50), min_size=1, max_size=15).map(lambda scores: sorted(scores, reverse=True))
WEIGHTS = st.floats(0, 3)
CALIBRATIONS = st.builds(
    Calibration, st.floats(-5, 5), WEIGHTS, WEIGHTS, WEIGHTS, st.just(1.0), WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS
)
SHARES = st.floats(0, 1)
EVIDENCE = st.lists(st.builds(Evidence, SHARES, SHARES, SHARES, SHARES), max_size=15)


def test_features_by_hand() -> None:
    found = features([3.0, 1.0, 0.0], evidence=[Evidence(0.5, 0.75, 1.0, 0.25)])
    assert found[:, 3:].tolist() == [[-0.5, -0.75, -1.0, -0.25], [0.0] * 4, [0.0] * 4]
    assert found[:, :3].tolist() == [
        [3.0, 2.0, pytest.approx(-math.log(1 + math.exp(-2) + math.exp(-3)))],
        [1.0, -2.0, pytest.approx(-2 - math.log(1 + math.exp(-2) + math.exp(-3)))],
        [0.0, -3.0, pytest.approx(-3 - math.log(1 + math.exp(-2) + math.exp(-3)))],
    ]
    assert features([7.0]).tolist() == [[7.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    assert features([]).shape == (0, 7)


def test_only_the_best_results_are_rivals() -> None:
    scores = [5.0 - rank for rank in range(10)]
    assert features([*scores, -6.0, -7.0])[:10].tolist() == features(scores).tolist()


@given(CALIBRATIONS, SCORES, EVIDENCE)
def test_a_better_result_never_has_less_confidence(
    calibration: Calibration, scores: list[float], evidence: list[Evidence]
) -> None:
    probability = calibration.probability(scores, evidence)
    assert ((probability >= 0) & (probability <= 1)).all()
    assert (np.diff(probability) <= 1e-12).all()


@given(CALIBRATIONS, SCORES, st.floats(0, 10))
def test_a_clearer_lead_never_lowers_confidence(calibration: Calibration, scores: list[float], lead: float) -> None:
    ahead = [scores[0] + lead, *scores[1:]]
    assert calibration.probability(ahead)[0] >= calibration.probability(scores)[0] - 1e-12


@given(CALIBRATIONS, SCORES, st.builds(Evidence, SHARES, SHARES, SHARES, SHARES))
def test_evidence_against_a_result_never_raises_its_confidence(
    calibration: Calibration, scores: list[float], evidence: Evidence
) -> None:
    assert calibration.probability(scores, [evidence])[0] <= calibration.probability(scores)[0] + 1e-12
    weights = (calibration.missing, calibration.unstated, calibration.names, calibration.unknown)
    assert calibration.weighs_evidence == any(weights)


@given(CALIBRATIONS, SCORES, EVIDENCE, st.floats(0, 3), st.floats(-5, 5))
def test_rescaled_logits(
    calibration: Calibration, scores: list[float], evidence: list[Evidence], slope: float, shift: float
) -> None:
    """Confidences stay probabilities, and in the order of the results."""
    rescaled = calibration.rescaled(slope, shift)
    expected = slope * calibration.logits(scores, evidence) + shift
    assert rescaled.logits(scores, evidence) == pytest.approx(expected, abs=1e-9)
    probability = rescaled.probability(scores, evidence)
    assert ((probability >= 0) & (probability <= 1)).all()
    assert (np.diff(probability) <= 1e-12).all()


def test_dictionary_and_back() -> None:
    calibration = Calibration(-1.0, 0.5, 0.25, 2.0, names=1.5)
    assert Calibration.from_dict(calibration.to_dict()) == calibration
    former = {"intercept": -1.0, "score": 0.5, "gap": 0.25, "share": 2.0, "temperature": 1.0}
    assert Calibration.from_dict(former) == Calibration(-1.0, 0.5, 0.25, 2.0)
    of_three = {**calibration.to_dict()}
    del of_three["unknown"]
    assert Calibration.from_dict(of_three) == calibration
    for values in ({}, {**calibration.to_dict(), "more": 1.0}, {**calibration.to_dict(), "gap": "wide"}):
        with pytest.raises(ConfigError, match="is not a calibration"):
            Calibration.from_dict(values)
