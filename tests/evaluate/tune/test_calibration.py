"""Fitted weights: known ones are found again, none is negative, and all agree with an implementation of their own."""

import numpy as np
import pytest

from densephrases.errors import ConfigError, MissingExtraError
from densephrases.evaluate import extra
from densephrases.evaluate.tune.calibration import fit_calibration
from densephrases.search.confidence import Calibration

# Fitted by Newton's method written out in numpy, at version 0.1.
PROBES = [[3.0, 2.5, 1.0], [0.5, 0.4, 0.3, -1.0], [6.0, 1.0], [-1.0]]
FITTED_BEFORE = {
    1e-3: [0.92349, 0.34950, 0.99989, 0.26244],
    0.1: [0.87390, 0.53108, 0.99575, 0.60676],
    0.0: [0.92344, 0.34316, 0.99991, 0.24520],
}
WITHOUT_SMALL_GAPS_BEFORE = [0.45116, 0.26223, 0.69213, 0.17691]
ALL_RANKS_BEFORE = [0.91922, 0.57431, 0.99946, 0.93521]


def made_up_lists(count: int) -> list[list[float]]:
    random = np.random.default_rng(1)
    return [np.sort(random.normal(random.normal(), 1.5, size=10))[::-1].tolist() for _ in range(count)]


def test_fit_recovers_known_weights() -> None:
    truth, random = Calibration(-0.5, 0.8, 1.2, 0.6), np.random.default_rng(2)
    lists = made_up_lists(20_000)
    correct = [[bool(random.random() < truth.probability(scores)[0])] for scores in lists]
    fitted = fit_calibration(lists, correct, l2=0.0)
    first = [fitted.probability(scores)[0] - truth.probability(scores)[0] for scores in lists]
    assert np.abs(first).mean() < 0.01
    assert fitted.score == pytest.approx(truth.score, abs=0.1)


def test_fit_uses_all_ranks_it_is_told_of() -> None:
    truth, random = Calibration(-2.0, 0.5, 0.7, 0.0), np.random.default_rng(3)
    lists = made_up_lists(4_000)
    correct = [(random.random(10) < truth.probability(scores)).tolist() for scores in lists]
    fitted = fit_calibration(lists, correct)
    assert fitted.score == pytest.approx(truth.score, abs=0.1)
    assert fitted.gap + fitted.share / fitted.temperature == pytest.approx(truth.gap, abs=0.15)


def test_fit_leaves_out_what_would_reward_worse_results() -> None:
    lists = [[float(score), 0.0] for score in range(-10, 0)]
    fitted = fit_calibration(lists, [[score < -5] for score in range(-10, 0)])
    assert min(fitted.score, fitted.gap, fitted.share) >= 0


def test_fit_of_separable_data_is_finite() -> None:
    fitted = fit_calibration([[float(score), 0.0] for score in range(10)], [[score > 4] for score in range(10)])
    assert np.isfinite(list(fitted.to_dict().values())).all()
    assert fitted.probability([9.0, 0.0])[0] > 0.9
    assert fitted.probability([1.0, 0.0])[0] < 0.1


@pytest.mark.parametrize("correct", [[[True], [True]], [[False], [False]], [[], []]])
def test_fit_needs_right_and_wrong_results(correct: list[list[bool]]) -> None:
    with pytest.raises(ConfigError, match="examples of both"):
        fit_calibration([[1.0], [2.0]], correct)


def test_fit_refuses_more_truth_values_than_results() -> None:
    with pytest.raises(ConfigError, match="more truth values"):
        fit_calibration([[1.0]], [[True, False]])


def first_probabilities(calibration: Calibration) -> list[float]:
    return [float(calibration.probability(scores)[0]) for scores in PROBES]


@pytest.mark.parametrize("l2", FITTED_BEFORE)
def test_fit_agrees_with_newtons_method(l2: float) -> None:
    truth, random = Calibration(-0.5, 0.8, 1.2, 0.6), np.random.default_rng(2)
    lists = made_up_lists(500)
    correct = [[bool(random.random() < truth.probability(scores)[0])] for scores in lists]
    assert first_probabilities(fit_calibration(lists, correct, l2=l2)) == pytest.approx(FITTED_BEFORE[l2], abs=1e-4)


def test_dropping_features_agrees_with_newtons_method() -> None:
    """Results with a small gap are the right ones: gap and share would get negative weights."""
    random = np.random.default_rng(7)
    lists = made_up_lists(500)
    correct = [[bool(random.random() < 1 / (1 + np.exp(1 + s[0] - 2 * s[1])))] for s in lists]
    fitted = fit_calibration(lists, correct)
    assert (fitted.gap, fitted.share) == (0.0, 0.0)
    assert first_probabilities(fitted) == pytest.approx(WITHOUT_SMALL_GAPS_BEFORE, abs=1e-4)


def test_all_ranks_agree_with_newtons_method() -> None:
    truth, random = Calibration(-2.0, 0.5, 0.7, 0.0), np.random.default_rng(3)
    lists = made_up_lists(500)
    correct = [(random.random(10) < truth.probability(scores)).tolist() for scores in lists]
    assert first_probabilities(fit_calibration(lists, correct)) == pytest.approx(ALL_RANKS_BEFORE, abs=1e-4)


def test_without_a_useful_feature_confidence_is_the_share_of_right_results() -> None:
    """The only score there is falls where results are right."""
    lists = [[-float(right)] for right in (True, True, True, False)]
    fitted = fit_calibration(lists, [[True], [True], [True], [False]])
    assert (fitted.score, fitted.gap, fitted.share) == (0.0, 0.0, 0.0)
    assert fitted.probability([5.0])[0] == pytest.approx(0.75)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extra, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"sklearn.*pip install 'densephrases\[evaluate\]'"):
        fit_calibration([[1.0], [2.0]], [[True], [False]])
