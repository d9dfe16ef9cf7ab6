"""How far confidences can be believed: calibration, and what is gained by not answering."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

# Shape suffixes: N answers.


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The answers of similar confidence."""

    confidence: float
    accuracy: float
    count: int


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """If only answers of at least `confidence` are given: the share of questions answered, and of answers right."""

    confidence: float
    coverage: float
    accuracy: float


def reliability_bins(confidences: ArrayLike, correct: ArrayLike, bins: int = 10) -> list[ReliabilityBin]:
    """Bins of equal width over 0 to 1, without the empty ones; a border belongs to the bin above it."""
    confidence_N, correct_N = _pair(confidences, correct)
    bin_N = np.minimum((confidence_N * bins).astype(np.int64), bins - 1)
    members = [bin_N == number for number in range(bins)]
    return [
        ReliabilityBin(float(confidence_N[inside].mean()), float(correct_N[inside].mean()), int(inside.sum()))
        for inside in members
        if inside.any()
    ]


def expected_calibration_error(confidences: ArrayLike, correct: ArrayLike, bins: int = 10) -> float:
    """The mean distance of confidence and accuracy, weighted by the answers of each bin; 0 without answers."""
    found = reliability_bins(confidences, correct, bins)
    total = sum(each.count for each in found)
    return sum(abs(each.confidence - each.accuracy) * each.count for each in found) / max(total, 1)


def coverage_curve(confidences: ArrayLike, correct: ArrayLike) -> list[CoveragePoint]:
    """From the most confident answers to all; one point for each different confidence."""
    confidence_N, correct_N = _pair(confidences, correct)
    order = np.argsort(-confidence_N, kind="stable")
    confidence_N, right_N = confidence_N[order], np.cumsum(correct_N[order])
    last = np.flatnonzero(np.append(confidence_N[1:] != confidence_N[:-1], True)[: len(confidence_N)])
    return [
        CoveragePoint(float(confidence_N[i]), (i + 1) / len(confidence_N), float(right_N[i]) / (i + 1))
        for i in last.tolist()
    ]


def risk_coverage_area(confidences: ArrayLike, correct: ArrayLike) -> float:
    """The mean share of wrong answers over all coverages; 0 is perfect.

    Answers of equal confidence are given together, so each of them counts with the risk of the whole group.
    """
    area, before = 0.0, 0.0
    for point in coverage_curve(confidences, correct):
        area += (point.coverage - before) * (1 - point.accuracy)
        before = point.coverage
    return area


def _pair(confidences: ArrayLike, correct: ArrayLike) -> tuple[Numbers, Numbers]:
    confidence_N, correct_N = np.asarray(confidences, dtype=np.float64), np.asarray(correct, dtype=np.float64)
    if confidence_N.shape != correct_N.shape or confidence_N.ndim != 1:
        raise ValueError(f"{confidence_N.shape} confidences and {correct_N.shape} truth values: expected as many.")
    return confidence_N, correct_N
