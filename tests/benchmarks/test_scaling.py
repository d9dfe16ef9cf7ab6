"""Growth, recall and made-up vectors of the scaling benchmark."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from densephrases.arrays import Floats
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document
from tests.index.made_up import CodedEncoder, long_text

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
        return scaling.Point(rows, rows, kind, 0.0, 0.0, 0, 0, p50_ms, p50_ms, p50_ms, p50_ms, 1.0, 0.0)

    points = [point(10, "exact", 50.0), point(100, "ivf-pq", 1.0), point(10_000, "ivf-pq", 10.0)]
    assert scaling.growth(points) == pytest.approx(0.5)


def test_overlap_is_the_share_of_expected_rows(scaling: ModuleType) -> None:
    assert scaling.overlap(np.array([[1, 2], [3, 4]]), np.array([[2, 9], [4, 3]])) == 0.75


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    documents = [Document(str(number), long_text(number)) for number in range(3)]
    return PhraseIndex.create(tmp_path / "index", documents, model=CodedEncoder())


def vectors_of(source: Any, rows: int) -> Floats:
    blocks = list(source.blocks(rows))
    assert all(len(vectors) == sizes.sum() for vectors, sizes in blocks)
    return np.concatenate([vectors for vectors, _ in blocks])


def test_real_vectors_come_first_and_copies_are_reflections(scaling: ModuleType, index: PhraseIndex) -> None:
    source = scaling.Source(index, 2)
    (segment,) = index.folder.segments
    real = segment.store.decode(slice(None))
    count = len(real)
    made = vectors_of(source, 2 * count + 25)
    assert len(made) == 2 * count + 25
    np.testing.assert_array_equal(made[:count], real)
    for copy in (made[count : 2 * count], made[2 * count :]):
        original, reflected = real[: len(copy)] - source.mean_D, copy - source.mean_D
        np.testing.assert_allclose(reflected @ reflected.T, original @ original.T, atol=1e-3)
        np.testing.assert_allclose(reflected @ source.axes_DD[:, :2], original @ source.axes_DD[:, :2], atol=1e-4)
        np.testing.assert_allclose(np.abs(reflected @ source.axes_DD), np.abs(original @ source.axes_DD), atol=1e-4)
        assert not np.allclose(reflected, original, atol=0.1)
    np.testing.assert_array_equal(vectors_of(source, 2 * count + 25), made)
    np.testing.assert_array_equal(vectors_of(source, 7), made[:7])


def test_passages_are_cut_with_their_rows(scaling: ModuleType) -> None:
    assert scaling.cut(np.array([3, 0, 4, 2]), 9).tolist() == [3, 0, 4, 2]
    assert scaling.cut(np.array([3, 0, 4, 2]), 5).tolist() == [3, 0, 2]
    assert scaling.cut(np.array([3, 0, 4, 2]), 3).tolist() == [3]


def test_stores_are_written_once(scaling: ModuleType, index: PhraseIndex, tmp_path: Path) -> None:
    source = scaling.Source(index, 2)
    (segment,) = index.folder.segments
    store = scaling.stored(source, segment.vectors, tmp_path / "size")
    assert store.decode(slice(None)).shape == (segment.vectors, segment.store.dim)
    source._segments = []
    assert len(scaling.stored(source, segment.vectors, tmp_path / "size")) == segment.vectors


def test_figures_of_one_point_are_json(scaling: ModuleType, tmp_path: Path) -> None:
    point = scaling.Point(100, 100, "ivf-pq", 1.0, 1.0, 1, 1, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)
    scaling.write_figures(tmp_path / "figures.json", [point], 0.5, 2)
    assert json.loads((tmp_path / "figures.json").read_text())["exponent"] is None
