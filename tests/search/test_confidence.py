"""The logistic function of result lists, and how well confidences keep their promise, on cases worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import ConfigError
from densephrases.evaluate.calibration_metrics import (
    CoveragePoint,
    ReliabilityBin,
    coverage_curve,
    expected_calibration_error,
    reliability_bins,
    risk_coverage_area,
)
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


def made_up_lists(count: int) -> list[list[float]]:
    random = np.random.default_rng(1)
    return [np.sort(random.normal(random.normal(), 1.5, size=10))[::-1].tolist() for _ in range(count)]


def test_fit_recovers_known_weights() -> None:
    truth, random = Calibration(-0.5, 0.8, 1.2, 0.6), np.random.default_rng(2)
    lists = made_up_lists(20_000)
    correct = [[bool(random.random() < truth.probability(scores)[0])] for scores in lists]
    fitted = Calibration.fit(lists, correct, l2=0.0)
    first = [fitted.probability(scores)[0] - truth.probability(scores)[0] for scores in lists]
    assert np.abs(first).mean() < 0.01
    assert fitted.score == pytest.approx(truth.score, abs=0.1)


def test_fit_uses_all_ranks_it_is_told_of() -> None:
    truth, random = Calibration(-2.0, 0.5, 0.7, 0.0), np.random.default_rng(3)
    lists = made_up_lists(4_000)
    correct = [(random.random(10) < truth.probability(scores)).tolist() for scores in lists]
    fitted = Calibration.fit(lists, correct)
    assert fitted.score == pytest.approx(truth.score, abs=0.1)
    assert fitted.gap + fitted.share / fitted.temperature == pytest.approx(truth.gap, abs=0.15)


def test_fit_leaves_out_what_would_reward_worse_results() -> None:
    lists = [[float(score), 0.0] for score in range(-10, 0)]
    fitted = Calibration.fit(lists, [[score < -5] for score in range(-10, 0)])
    assert min(fitted.score, fitted.gap, fitted.share) >= 0


def test_fit_of_separable_data_is_finite() -> None:
    fitted = Calibration.fit([[float(score), 0.0] for score in range(10)], [[score > 4] for score in range(10)])
    assert np.isfinite(list(fitted.to_dict().values())).all()
    assert fitted.probability([9.0, 0.0])[0] > 0.9
    assert fitted.probability([1.0, 0.0])[0] < 0.1


@pytest.mark.parametrize("correct", [[[True], [True]], [[False], [False]], [[], []]])
def test_fit_needs_right_and_wrong_results(correct: list[list[bool]]) -> None:
    with pytest.raises(ConfigError, match="examples of both"):
        Calibration.fit([[1.0], [2.0]], correct)


def test_fit_refuses_more_truth_values_than_results() -> None:
    with pytest.raises(ConfigError, match="more truth values"):
        Calibration.fit([[1.0]], [[True, False]])


def test_dictionary_and_back() -> None:
    calibration = Calibration(-1.0, 0.5, 0.25, 2.0)
    assert Calibration.from_dict(calibration.to_dict()) == calibration
    for values in ({}, {**calibration.to_dict(), "more": 1.0}, {**calibration.to_dict(), "gap": "wide"}):
        with pytest.raises(ConfigError, match="is not a calibration"):
            Calibration.from_dict(values)


CONFIDENCES = [0.95, 0.9, 0.5, 0.5, 0.1]
CORRECT = [True, True, True, False, False]


def test_reliability_by_hand() -> None:
    bins = reliability_bins(CONFIDENCES, CORRECT, bins=2)
    assert bins == [ReliabilityBin(0.1, 0.0, 1), ReliabilityBin((0.95 + 0.9 + 0.5 + 0.5) / 4, 0.75, 4)]
    assert expected_calibration_error(CONFIDENCES, CORRECT, bins=2) == pytest.approx((0.1 + 4 * (0.75 - 0.7125)) / 5)
    assert [b.count for b in reliability_bins([1.0, 0.0], [True, False])] == [1, 1]  # 1 belongs to the last bin
    assert reliability_bins([], []) == []
    assert expected_calibration_error([], []) == 0


def test_coverage_by_hand() -> None:
    assert coverage_curve(CONFIDENCES, CORRECT) == [
        CoveragePoint(0.95, 0.2, 1.0),
        CoveragePoint(0.9, 0.4, 1.0),
        CoveragePoint(0.5, 0.8, 0.75),  # equals are answered together
        CoveragePoint(0.1, 1.0, 0.6),
    ]
    assert risk_coverage_area(CONFIDENCES, CORRECT) == pytest.approx(0.4 * 0.25 + 0.2 * 0.4)
    assert coverage_curve([], []) == []
    assert risk_coverage_area([], []) == 0


def test_better_order_has_less_risk() -> None:
    right_first, wrong_first = [0.9, 0.8, 0.2, 0.1], [0.1, 0.2, 0.8, 0.9]
    correct = [True, True, False, False]
    assert risk_coverage_area(right_first, correct) < risk_coverage_area(wrong_first, correct)


def test_as_many_truth_values_as_confidences() -> None:
    with pytest.raises(ValueError, match="expected as many"):
        reliability_bins([0.5], [True, False])
