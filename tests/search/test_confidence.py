"""The logistic function of result lists, on cases worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import ConfigError
from densephrases.search.confidence import Calibration, features

SCORES = st.lists(st.floats(-50, 50), min_size=1, max_size=15).map(lambda scores: sorted(scores, reverse=True))
WEIGHTS = st.floats(0, 3)
CALIBRATIONS = st.builds(Calibration, st.floats(-5, 5), WEIGHTS, WEIGHTS, WEIGHTS)


def test_features_by_hand() -> None:
    assert features([3.0, 1.0, 0.0]).tolist() == [
        [3.0, 2.0, pytest.approx(-math.log(1 + math.exp(-2) + math.exp(-3)))],
        [1.0, -2.0, pytest.approx(-2 - math.log(1 + math.exp(-2) + math.exp(-3)))],
        [0.0, -3.0, pytest.approx(-3 - math.log(1 + math.exp(-2) + math.exp(-3)))],
    ]
    assert features([7.0]).tolist() == [[7.0, 0.0, 0.0]]
    assert features([]).shape == (0, 3)


def test_only_the_best_results_are_rivals() -> None:
    scores = [5.0 - rank for rank in range(10)]
    assert features([*scores, -6.0, -7.0])[:10].tolist() == features(scores).tolist()


@given(CALIBRATIONS, SCORES)
def test_a_better_result_never_has_less_confidence(calibration: Calibration, scores: list[float]) -> None:
    probability = calibration.probability(scores)
    assert ((probability >= 0) & (probability <= 1)).all()
    assert (np.diff(probability) <= 1e-12).all()


@given(CALIBRATIONS, SCORES, st.floats(0, 10))
def test_a_clearer_lead_never_lowers_confidence(calibration: Calibration, scores: list[float], lead: float) -> None:
    ahead = [scores[0] + lead, *scores[1:]]
    assert calibration.probability(ahead)[0] >= calibration.probability(scores)[0] - 1e-12


def test_dictionary_and_back() -> None:
    calibration = Calibration(-1.0, 0.5, 0.25, 2.0)
    assert Calibration.from_dict(calibration.to_dict()) == calibration
    for values in ({}, {**calibration.to_dict(), "more": 1.0}, {**calibration.to_dict(), "gap": "wide"}):
        with pytest.raises(ConfigError, match="is not a calibration"):
            Calibration.from_dict(values)
