"""Product quantization: close where it matters, and the same scores however they are computed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.quantize.base import passage_centroids
from densephrases.quantize.product import ResidualPQCodec
from tests.index.made_up import code_for


def vectors(count: int, dim: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)


@given(st.integers(1, 30), st.integers(0, 12), st.integers(0, 4))
def test_scores_are_products_with_what_is_decoded(dim: int, count: int, queries: int) -> None:
    for codec in (ResidualPQCodec(code_for(dim)), ResidualPQCodec(code_for(dim)).centroid_codec):
        records, asked = codec.encode(vectors(count, dim)), vectors(queries, dim, seed=1)
        expected = asked @ codec.decode(records).T
        np.testing.assert_allclose(codec.scorer(asked)(records), expected, atol=1e-3)
        query_N, row_N = (each.ravel() for each in np.indices(expected.shape))
        own = codec.pair_scorer(asked)(records[row_N], query_N)
        np.testing.assert_allclose(own.reshape(expected.shape), expected, atol=1e-3)


def test_a_vector_is_encoded_by_the_nearest_centroids() -> None:
    codec = ResidualPQCodec(code_for(24))
    numbers = vectors(50, 24) @ codec.product_quantizer.projection_DK
    codes = codec.encode(vectors(50, 24))["codes"]
    for byte, group in enumerate(codec.codebooks.groups):
        centroids = codec.codebooks.centroids_KV[group].T
        wanted = numbers[:, codec.codebooks.components_K[group]]
        distances = np.linalg.norm(wanted[:, None] - centroids, axis=2)
        chosen = distances[np.arange(50), codes[:, byte]]
        np.testing.assert_allclose(chosen, distances.min(axis=1), rtol=1e-4)


def test_upper_bits_say_roughly_what_all_bits_say() -> None:
    codec = ResidualPQCodec(code_for(48))
    records = codec.encode(vectors(2000, 48))
    numbers = codec.components(records)
    rough = np.zeros_like(numbers)
    for byte, group in enumerate(codec.codebooks.groups):
        rough[:, codec.codebooks.components_K[group]] = codec.coarse_centroids[group].T[records["codes"][:, byte] >> 4]
    assert np.square(rough - numbers).sum() < 0.6 * np.square(numbers).sum()


def test_passage_centroids_worked_by_hand() -> None:
    rows = np.array([[1, 0], [3, 2], [5, 5]], dtype=np.float32)
    assert passage_centroids(rows, np.array([0, 2, 0, 1])).tolist() == [[0, 0], [2, 1], [0, 0], [5, 5]]
    assert passage_centroids(rows[:0], np.array([0, 0])).tolist() == [[0, 0], [0, 0]]


def test_a_model_without_codebooks_cannot_have_pq_vectors() -> None:
    with pytest.raises(ConfigError, match="tune quantizer MODEL DATA"):
        ResidualPQCodec.fit(vectors(3, 5), None)


def test_an_index_stores_nothing_of_a_product_quantizer() -> None:
    codec = ResidualPQCodec(code_for(5))
    assert codec.to_bytes() == b""
    again = ResidualPQCodec.from_bytes(np.zeros(0, dtype=np.uint8), 5, code_for(5))
    records = codec.encode(vectors(9, 5))
    assert again.decode(records).tolist() == codec.decode(records).tolist()
