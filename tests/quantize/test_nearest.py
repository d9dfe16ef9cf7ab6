"""Nearest centroids against plain distances, however many points there are."""

from typing import Any

import numpy as np
import pytest

from densephrases.quantize import nearest
from densephrases.quantize.nearest import nearest_centroids, one_thread_product


@pytest.mark.parametrize("multiplications", [1, 300, 1 << 18])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_nearest_is_nearest(
    multiplications: int, kind: type[np.floating[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "_ONE_THREAD", multiplications)
    random = np.random.default_rng(0)
    points = np.asarray(random.normal(size=(40, 3)), dtype=kind)
    centroids = np.asarray(random.normal(size=(3, 9)), dtype=kind)
    expected = np.linalg.norm(points[:, None] - centroids.T, axis=2).argmin(axis=1)
    assert nearest_centroids(points, centroids).tolist() == expected.tolist()
    product = one_thread_product(points, centroids)
    assert product.dtype == kind
    np.testing.assert_allclose(product, points @ centroids, rtol=1e-4, atol=1e-5)


def test_the_first_of_equally_near_ones() -> None:
    assert nearest_centroids(np.zeros((2, 1)), np.array([[3.0, -1.0, 1.0]])).tolist() == [1, 1]
    assert nearest_centroids(np.zeros((0, 1)), np.zeros((1, 4))).tolist() == []
