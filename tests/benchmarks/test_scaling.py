"""Growth, recall and made-up vectors of the scaling benchmark."""

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from densephrases.index.scaled import Int8Coder
from densephrases.index.vectors import VectorStore

from .conftest import Importing


@pytest.fixture
def scaling(benchmark_module: Importing) -> ModuleType:
    return benchmark_module("scaling")


def test_exponents_of_known_laws(scaling: ModuleType) -> None:
    rows = [100, 1000, 10_000]
    assert scaling.exponent(rows, [3.0, 3.0, 3.0]) == pytest.approx(0, abs=1e-9)
    assert scaling.exponent(rows, [1.0, 10**0.5, 10.0]) == pytest.approx(0.5)
    assert scaling.exponent(rows, [2.0, 20.0, 200.0]) == pytest.approx(1)
    assert np.isnan(scaling.exponent([100], [1.0]))


def test_growth_leaves_scanned_points_out(scaling: ModuleType) -> None:
    def point(rows: int, kind: str, p50_ms: float) -> object:
        return scaling.Point(rows, rows, kind, 0.0, 0, 0, p50_ms, p50_ms, 1.0)

    points = [point(10, "exact", 50.0), point(100, "ivf-pq", 1.0), point(10_000, "ivf-pq", 10.0)]
    assert scaling.growth(points) == pytest.approx(0.5)


def test_overlap_is_the_share_of_expected_rows(scaling: ModuleType) -> None:
    assert scaling.overlap(np.array([[1, 2], [3, 4]]), np.array([[2, 9], [4, 3]])) == 0.75


class _Source:
    """Ten vectors in two stores, for `Source` to go on from."""

    def __init__(self, scaling: ModuleType) -> None:
        vectors_ND = np.random.default_rng(1).standard_normal((10, 4)).astype(np.float32)
        self.coder = Int8Coder.fit(vectors_ND)
        parts = (vectors_ND[:6], vectors_ND[6:])
        stores = [VectorStore(self.coder.encode(part), self.coder) for part in parts]
        self.source = scaling.Source.__new__(scaling.Source)
        self.source._stores, self.source.rows, self.source.coder = stores, 10, self.coder
        self.source.spread = 0.1
        self.decoded = np.concatenate([store.decode(slice(None)) for store in stores])


def test_real_vectors_come_first_and_copies_are_near_them(scaling: ModuleType) -> None:
    given = _Source(scaling)
    made = np.concatenate(list(given.source.blocks(25)))
    assert made.shape == (25, 4)
    np.testing.assert_array_equal(made[:10], given.decoded)
    for copy in (made[10:20], made[20:25]):
        moved = np.abs(copy - given.decoded[: len(copy)]) / given.coder.calibration.spread_D
        assert 0 < moved.mean() < 0.2
    np.testing.assert_array_equal(np.concatenate(list(given.source.blocks(25))), made)
    np.testing.assert_array_equal(np.concatenate(list(given.source.blocks(7))), made[:7])


def test_stores_are_written_once(scaling: ModuleType, tmp_path: Path) -> None:
    given = _Source(scaling)
    store = scaling.stored(given.source, 8, tmp_path / "size" / "vectors.bin")
    np.testing.assert_allclose(store.decode(slice(None)), given.decoded[:8], atol=0.02)
    given.source._stores = []
    assert len(scaling.stored(given.source, 8, tmp_path / "size" / "vectors.bin")) == 8


def test_figures_of_one_point_are_json(scaling: ModuleType, tmp_path: Path) -> None:
    point = scaling.Point(100, 100, "ivf-pq", 1.0, 1, 1, 1.0, 1.0, 1.0)
    scaling.write_figures(tmp_path / "figures.json", [point], 0.5, 0.1)
    assert json.loads((tmp_path / "figures.json").read_text())["exponent"] is None
