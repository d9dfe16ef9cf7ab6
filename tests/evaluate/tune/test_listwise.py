"""Listwise weights: planted ones are recovered, and no neighbouring weights are better."""

import numpy as np
import pytest

from densephrases.evaluate.tune.listwise import Lists, fit_weights

SIZES = np.random.default_rng(0).integers(1, 9, size=3000)


def planted(weights: list[float]) -> Lists:
    """One item of each question is right, drawn by its share in the softmax."""
    random = np.random.default_rng(1)
    edges = np.cumsum([0, *SIZES])
    features = random.normal(size=(int(edges[-1]), len(weights)))
    right = np.zeros(len(features), dtype=bool)
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        shares = np.exp(features[first:last] @ weights)
        right[first + random.choice(last - first, p=shares / shares.sum())] = True
    return Lists(edges, features, right)


def test_planted_weights_are_recovered() -> None:
    weights = [1.5, -0.7, 0.0]
    found = fit_weights(planted(weights).informative(), np.zeros(3))
    np.testing.assert_allclose(found, weights, atol=0.15)


def brute_loss(lists: Lists, weights: list[float]) -> float:
    losses = []
    for first, last in zip(lists.edges_B[:-1].tolist(), lists.edges_B[1:].tolist(), strict=True):
        shares = np.exp(lists.features_NF[first:last] @ np.array(weights))
        losses.append(-np.log(shares[lists.right_N[first:last]].sum() / shares.sum()))
    return float(np.mean(losses))


def test_several_right_items_share_the_loss() -> None:
    lists = planted([0.5, 0.5])
    lists.right_N[::5] = True
    lists = lists.informative()
    l2 = np.array([0.0, 0.1])
    found = fit_weights(lists, l2)
    assert lists.losses(found).mean() == pytest.approx(brute_loss(lists, found.tolist()))

    def objective(weights: list[float]) -> float:
        return brute_loss(lists, weights) + float((l2 * np.array(weights) ** 2).sum()) / 2

    least = objective(found.tolist())
    for shift in ([0.01, 0.0], [-0.01, 0.0], [0.0, 0.01], [0.0, -0.01]):
        assert objective((found + shift).tolist()) > least


def test_regularised_weights_shrink_and_separable_ones_stay_finite() -> None:
    separable = Lists(np.array([0, 2, 4]), np.array([[1.0], [0.0], [2.0], [1.0]]), np.array([True, False] * 2))
    weak, strong = (fit_weights(separable, np.array([l2]))[0] for l2 in (0.01, 1.0))
    assert 0 < strong < weak < 100


def test_a_constant_feature_gets_no_weight() -> None:
    lists = planted([1.0])
    features = np.column_stack([lists.features_NF, np.ones(len(lists.features_NF))])
    found = fit_weights(Lists(lists.edges_B, features, lists.right_N).informative(), np.array([0.0, 0.001]))
    assert found[0] == pytest.approx(1.0, abs=0.15)
    assert abs(found[1]) < 1e-3


def test_uninformative_questions_are_left_out() -> None:
    right = np.array([True, True, False, False, True, False])
    lists = Lists(np.array([0, 0, 2, 4, 6]), np.arange(6.0)[:, None], right).informative()
    assert lists.edges_B.tolist() == [0, 2]
    assert lists.features_NF[:, 0].tolist() == [4, 5]
    assert len(lists) == 1
