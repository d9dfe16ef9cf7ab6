"""Nearest centroids against plain distances, however many points there are."""

from typing import Any

import numpy as np
import pytest

from densephrases.quantize import nearest
from densephrases.quantize.nearest import nearest_centroids, one_thread_product, product_in_blocks


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


@pytest.mark.parametrize("sizes", [(3, 256), (384, 384)])
def test_a_product_does_not_depend_on_the_number_of_points(sizes: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(1100, sizes[0])).astype(np.float32)
    matrix = random.normal(size=sizes).astype(np.float32)
    for product in (product_in_blocks, one_thread_product):
        whole = product(points, matrix)
        np.testing.assert_allclose(whole, points @ matrix, rtol=1e-3, atol=1e-3)
        for few in (slice(0, 1), slice(7, 20), slice(500, 1013), slice(1099, 1100), slice(0, 0)):
            np.testing.assert_array_equal(product(points[few], matrix), whole[few])
