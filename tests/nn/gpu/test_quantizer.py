"""Codes made on a device are those that an index makes itself; a CPU stands in for the GPU."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import Bytes, Floats
from densephrases.index.vectors.encoded import EncodedVectors
from densephrases.nn.gpu.quantizer import GpuQuantizer
from densephrases.quantize.base import Records
from densephrases.quantize.product import PQCodec, ResidualPQCodec
from tests.index.made_up import code_for
from tests.quantize.test_anisotropic import excess_costs


def vectors(count: int, dim: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float16]]":
    return np.random.default_rng(count).normal(size=(count, dim)).astype(np.float16)


@given(st.integers(1, 30), st.lists(st.integers(0, 9), max_size=8), st.integers(1, 20))
def test_codes_are_those_of_an_index(dim: int, rows: list[int], at_once: int) -> None:
    """But for numbers between two centroids, which rounding may decide."""
    codec, rows_P = ResidualPQCodec(code_for(dim)), np.array(rows, dtype=np.int64)
    given_rows = vectors(sum(rows), dim)
    expected = EncodedVectors.by_codec(given_rows, rows_P, codec)
    found = GpuQuantizer(codec.product_quantizer, torch.device("cpu"), at_once)(given_rows, rows_P)
    assert found.rows_RF.shape == (len(given_rows), len(codec.codebooks.sizes_F))
    assert found.means_PF.shape == (len(rows), len(codec.centroid_codec.codebooks.sizes_F))
    assert found.rows_RF.dtype == found.means_PF.dtype == np.uint8
    own_P = [rows for rows in np.split(given_rows.astype(np.float32), np.cumsum(rows_P)[:-1]) if len(rows_P)]
    means_PD = np.array([own.mean(axis=0) if len(own) else np.zeros(dim) for own in own_P]).reshape(-1, dim)
    are_as_near(codec.centroid_codec, means_PD, expected.centroids_P, found.means_PF)
    if np.array_equal(found.means_PF, expected.centroids_P["codes"]):
        residuals = given_rows - np.repeat(codec.centroid_codec.decode(expected.centroids_P), rows_P, axis=0)
        own = np.concatenate([np.zeros(0, dtype=codec.row_type), *expected.records_N])["codes"]
        for codes in (own, found.rows_RF):
            assert excess_costs(codec, residuals, given_rows, codes).max(initial=0) < 1e-3


def are_as_near(codec: PQCodec, vectors_ND: Floats, records_N: Records, codes_NF: Bytes) -> None:
    """Codes that differ from those of the records are no further from what is coded, but for rounding."""
    others_N = records_N.copy()
    others_N["codes"] = codes_NF
    expected_N, found_N = (
        np.square(vectors_ND - codec.decode(records)).sum(axis=1) for records in (records_N, others_N)
    )
    np.testing.assert_allclose(found_N, expected_N, rtol=1e-3, atol=1e-3)


def test_the_same_rows_have_the_same_codes() -> None:
    pq, rows = GpuQuantizer(code_for(24), torch.device("cpu")), vectors(500, 24)
    first, again = (pq(rows, np.array([200, 0, 300])) for _ in range(2))
    assert np.array_equal(first.rows_RF, again.rows_RF)
    assert np.array_equal(first.means_PF, again.means_PF)
