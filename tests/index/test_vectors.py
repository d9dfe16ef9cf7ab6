"""Stores: what quantisation may lose, and that scores are inner products with what is decoded."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from densephrases.index.vectors import (
    QUANTIZERS,
    Calibration,
    Floats,
    Quantizer,
    VectorStore,
    map_array,
    quantize,
    release_pages,
    row_type,
)

VALUES = st.floats(-100, 100, width=32)
VECTORS = npst.arrays(np.float32, st.tuples(st.integers(0, 12), st.integers(1, 9)), elements=VALUES)
KINDS = st.sampled_from(QUANTIZERS)


def steps(store: VectorStore) -> Floats:
    """The distance of neighbouring levels in each place of a store."""
    return np.asarray(store.records_N["scale"][:, None] * store.calibration.spread_D)


@given(VECTORS)
def test_half_precision_loses_three_digits(vectors: Floats) -> None:
    decoded = VectorStore.of(vectors, "fp16").decode(slice(None))
    np.testing.assert_allclose(decoded, vectors, rtol=1e-3, atol=1e-6)


@given(VECTORS)
def test_eight_bits_are_half_a_step_off_at_most(vectors: Floats) -> None:
    store = VectorStore.of(vectors, "int8")
    error = np.abs(store.decode(slice(None)) - vectors)
    assert (error <= 0.5 * steps(store) * 1.001 + 1e-4).all()


@given(VECTORS)
def test_four_bits_are_half_a_step_off_unless_clipped(vectors: Floats) -> None:
    store = VectorStore.of(vectors, "int4")
    error = np.abs(store.decode(slice(None)) - vectors)
    values = np.abs(vectors - store.calibration.mean_D) / store.calibration.spread_D
    inside = values <= 7.9 * store.records_N["scale"][:, None]
    assert (error <= 0.5 * steps(store) * 1.01 + 1e-4)[inside].all()


@given(VECTORS, KINDS, st.data())
def test_scores_are_products_with_decoded_rows(vectors: Floats, kind: Quantizer, data: st.DataObject) -> None:
    store = VectorStore.of(vectors, kind)
    query = data.draw(npst.arrays(np.float32, vectors.shape[1], elements=VALUES))
    numbers = st.integers(0, max(len(vectors) - 1, 0))
    rows = np.array(data.draw(st.lists(numbers, max_size=20 if len(vectors) else 0)), dtype=np.int64)
    expected = store.decode(rows).astype(np.float64) @ query.astype(np.float64)
    np.testing.assert_allclose(store.scores(rows, query), expected, rtol=1e-4, atol=0.5)
    for block_rows in (1, 3, 100):
        scanned = [scores for _, scores in store.scan(query[None], block_rows)]
        found = np.concatenate([np.zeros((1, 0), np.float32), *scanned], axis=1)[0]
        np.testing.assert_allclose(found, store.decode(slice(None)) @ query, rtol=1e-4, atol=0.5)


@pytest.mark.parametrize(("quantizer", "size"), [("fp16", 2 * 7), ("int8", 4 + 7), ("int4", 4 + 4)])
def test_size_of_a_row(quantizer: Quantizer, size: int) -> None:
    assert row_type(quantizer, 7).itemsize == size


@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_a_file_is_read_as_it_was_quantised(tmp_path: Path, quantizer: Quantizer) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 9)).astype(np.float32)
    calibration = Calibration.of(vectors)
    (tmp_path / "vectors.bin").write_bytes(quantize(vectors, quantizer, calibration).tobytes())
    store = VectorStore.open(tmp_path / "vectors.bin", quantizer, calibration)
    assert store.decode(slice(None)).tolist() == VectorStore.of(vectors, quantizer).decode(slice(None)).tolist()
    largest = {"fp16": 0.01, "int8": 0.03, "int4": 0.8}[quantizer]
    assert np.abs(store.decode(np.array([3, 3, 49])) - vectors[[3, 3, 49]]).max() < largest


def test_calibration_makes_four_bits_better_where_dimensions_differ() -> None:
    random = np.random.default_rng(1)
    vectors = (random.normal(size=(500, 16)) * np.linspace(0.2, 2, 16) + 5 * random.normal(size=16)).astype(np.float32)
    errors = [
        np.linalg.norm(VectorStore.of(vectors, "int4", calibration).decode(slice(None)) - vectors)
        for calibration in (Calibration.of(vectors), Calibration.neutral(16))
    ]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("count", [0, 1])
def test_calibration_of_hardly_any_row(count: int) -> None:
    calibration = Calibration.of(np.ones((count, 3), dtype=np.float32))
    assert (calibration.spread_D > 0).all()
    assert Calibration.from_array(calibration.array()).spread_D.tolist() == calibration.spread_D.tolist()


def test_released_pages_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "numbers.bin").write_bytes(np.arange(5000, dtype="<u4").tobytes())
    numbers = map_array(tmp_path / "numbers.bin", "<u4")
    assert numbers.sum() == 4999 * 2500
    release_pages(numbers[7:].view(np.uint8))
    release_pages(np.zeros(3))
    assert numbers.sum() == 4999 * 2500


def test_an_empty_file_is_an_empty_array(tmp_path: Path) -> None:
    (tmp_path / "empty.bin").touch()
    assert len(map_array(tmp_path / "empty.bin", "<u4")) == 0
