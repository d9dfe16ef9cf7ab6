"""Scalar quantization: how much rounding may lose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from densephrases.arrays import Floats
from densephrases.quantize.base import Records
from densephrases.quantize.scalar import HalfCodec, Int4Quantizer, Int8Quantizer, ScalarQuantizer, Standardization

VALUES = st.floats(-100, 100, width=32)
VECTORS = npst.arrays(np.float32, st.tuples(st.integers(0, 12), st.integers(1, 9)), elements=VALUES)


def steps(codec: ScalarQuantizer, records: Records) -> Floats:
    """The distance of neighbouring levels in each place."""
    return np.asarray(records["scale"][:, None] * codec.standardization.spread_D)


@given(VECTORS)
def test_half_precision_loses_three_digits(vectors: Floats) -> None:
    codec = HalfCodec.fit(vectors)
    np.testing.assert_allclose(codec.decode(codec.encode(vectors)), vectors, rtol=1e-3, atol=1e-6)


@given(VECTORS)
def test_eight_bits_are_half_a_step_off_at_most(vectors: Floats) -> None:
    codec = Int8Quantizer.fit(vectors)
    records = codec.encode(vectors)
    error = np.abs(codec.decode(records) - vectors)
    assert (error <= 0.5 * steps(codec, records) * 1.001 + 1e-4).all()


@given(VECTORS)
def test_four_bits_are_half_a_step_off_unless_clipped(vectors: Floats) -> None:
    codec = Int4Quantizer.fit(vectors)
    records = codec.encode(vectors)
    error = np.abs(codec.decode(records) - vectors)
    values = np.abs(vectors - codec.standardization.mean_D) / codec.standardization.spread_D
    inside = values <= 7.9 * records["scale"][:, None]
    assert (error <= 0.5 * steps(codec, records) * 1.01 + 1e-4)[inside].all()


def test_standardization_makes_four_bits_better_where_dimensions_differ() -> None:
    random = np.random.default_rng(1)
    vectors = (random.normal(size=(500, 16)) * np.linspace(0.2, 2, 16) + 5 * random.normal(size=16)).astype(np.float32)
    codecs = [Int4Quantizer(each) for each in (Standardization.fit(vectors), Standardization.neutral(16))]
    errors = [np.linalg.norm(codec.decode(codec.encode(vectors)) - vectors) for codec in codecs]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("count", [0, 1])
def test_standardization_of_hardly_any_vector(count: int) -> None:
    assert (Standardization.fit(np.ones((count, 3), dtype=np.float32)).spread_D > 0).all()
