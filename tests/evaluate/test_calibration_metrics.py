"""Calibration error, reliability and coverage, on cases worked by hand."""

import pytest

from densephrases.evaluate.calibration_metrics import (
    CoveragePoint,
    ReliabilityBin,
    coverage_curve,
    expected_calibration_error,
    reliability_bins,
    risk_coverage_area,
)

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
