"""Calibration of confidences, and accuracy as a function of coverage."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

# Shape suffixes: N answers.


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers of similar confidence: their mean confidence, accuracy and number."""

    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """The share of questions answered if answers below `confidence` are withheld, and the accuracy of the rest."""

    confidence: float
    coverage: float
    accuracy: float


def reliability_bins(confidences: ArrayLike, correct: ArrayLike, bins: int = 10) -> list[ReliabilityBin]:
    """Non-empty bins of equal width from 0 to 1; a boundary belongs to the bin above it."""
    confidence_N, correct_N = _pair(confidences, correct)
    bin_N = np.minimum((confidence_N * bins).astype(np.int64), bins - 1)
    members = [bin_N == number for number in range(bins)]
    return [
        ReliabilityBin(float(confidence_N[inside].mean()), float(correct_N[inside].mean()), int(inside.sum()))
        for inside in members
        if inside.any()
    ]


def expected_calibration_error(confidences: ArrayLike, correct: ArrayLike, bins: int = 10) -> float:
    """Mean absolute difference of confidence and accuracy over bins, weighted by count; 0 without answers."""
    found = reliability_bins(confidences, correct, bins)
    total = sum(each.count for each in found)
    return sum(abs(each.confidence - each.accuracy) * each.count for each in found) / max(total, 1)


def coverage_curve(confidences: ArrayLike, correct: ArrayLike) -> list[CoveragePoint]:
    """From the most confident answers to all; one point for each distinct confidence."""
    confidence_N, correct_N = _pair(confidences, correct)
    order = np.argsort(-confidence_N, kind="stable")
    confidence_N, right_N = confidence_N[order], np.cumsum(correct_N[order])
    last = np.flatnonzero(np.append(confidence_N[1:] != confidence_N[:-1], True)[: len(confidence_N)])
    return [
        CoveragePoint(float(confidence_N[i]), (i + 1) / len(confidence_N), float(right_N[i]) / (i + 1))
        for i in last.tolist()
    ]


def risk_coverage_area(confidences: ArrayLike, correct: ArrayLike) -> float:
    """Mean share of wrong answers over all coverages; 0 is perfect. Answers of equal confidence are one step."""
    area, before = 0.0, 0.0
    for point in coverage_curve(confidences, correct):
        area += (point.coverage - before) * (1 - point.accuracy)
        before = point.coverage
    return area


def _pair(confidences: ArrayLike, correct: ArrayLike) -> tuple[Numbers, Numbers]:
    confidence_N, correct_N = np.asarray(confidences, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if confidence_N.shape != correct_N.shape or confidence_N.ndim != 1:
        raise ValueError(
            f"{confidence_N.shape} confidences and {correct_N.shape} truth values; expected as many of each."
        )
    return confidence_N, correct_N
