"""Slope and shift on made-up logits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.evaluate.tune.platt import SHIFT_DEVIATION, SLOPE_DEVIATION, fit_platt
from densephrases.search.confidence import Numbers, logistic

ANSWERS = st.lists(st.tuples(st.floats(-8, 8), st.booleans()), min_size=10, max_size=40)


def made_up(count: int, slope: float, shift: float, seed: int = 0) -> tuple[Numbers, Numbers]:
    """Logits of a model, and answers that are right as often as rescaled logits say."""
    random = np.random.default_rng(seed)
    logit_N = random.normal(0, 2, count)
    return logit_N, (random.random(count) < logistic(slope * logit_N + shift)).astype(np.float64)


def objective(slope: Any, shift: Any, logit_N: Numbers, right_N: Numbers) -> Any:
    """The negative logarithm of the posterior, answer by answer."""
    total = (slope - 1) ** 2 / (2 * SLOPE_DEVIATION**2) + shift**2 / (2 * SHIFT_DEVIATION**2)
    for logit, right in zip(logit_N.tolist(), right_N.tolist(), strict=True):
        confidence = 1 / (1 + np.exp(-(slope * logit + shift)))
        total = total - np.log(confidence if right else 1 - confidence)
    return total


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (0.4, -1.0), (1.8, 0.7), (0.0, 0.5)])
def test_slope_and_shift_are_recovered(slope: float, shift: float) -> None:
    assert fit_platt(*made_up(20_000, slope, shift)) == pytest.approx((slope, shift), abs=0.06)


@pytest.mark.parametrize("seed", range(5))
def test_the_fit_is_the_best_of_a_grid(seed: int) -> None:
    logit_N, right_N = made_up(15, 0.5, -1.0, seed)
    slopes, shifts = np.meshgrid(np.linspace(0, 3, 301), np.linspace(-3, 3, 601), indexing="ij")
    values = objective(slopes, shifts, logit_N, right_N)
    best = np.unravel_index(values.argmin(), values.shape)
    slope, shift = fit_platt(logit_N, right_N)
    assert (slope, shift) == pytest.approx((slopes[best], shifts[best]), abs=0.011)
    assert objective(slope, shift, logit_N, right_N) <= values.min()


def test_sure_answers_that_are_wrong_get_no_negative_slope() -> None:
    """Then the shift alone is fitted: in one dimension, against a grid."""
    logit_N = np.repeat([4.0, -4.0], 100)
    right_N = np.array([0.0] * 100 + [1.0] * 60 + [0.0] * 40)
    slope, shift = fit_platt(logit_N, right_N)
    grid = np.linspace(-2, 2, 4001)
    assert slope == 0
    assert shift == pytest.approx(grid[objective(1.0, grid, np.zeros(200), right_N).argmin()], abs=1e-3)


def test_few_answers_change_little() -> None:
    """Ten right answers that the model was unsure of: without an expectation, the shift would have no bounds."""
    slope, shift = fit_platt(np.zeros(10), np.ones(10))
    assert slope == pytest.approx(1.0)
    assert shift == pytest.approx(10 * SHIFT_DEVIATION**2 * logistic(np.array(-shift)))
    assert shift < 1.2


@settings(max_examples=100)
@given(ANSWERS)
def test_slope_and_shift_are_finite_and_keep_the_order(answers: list[tuple[float, bool]]) -> None:
    logit_N, right_N = (np.array(column, dtype=np.float64) for column in zip(*answers, strict=True))
    slope, shift = fit_platt(logit_N, right_N)
    assert slope >= 0
    assert np.isfinite([slope, shift]).all()
    if slope > 0:
        assert objective(slope, shift, logit_N, right_N) <= objective(1.0, 0.0, logit_N, right_N) + 1e-9
