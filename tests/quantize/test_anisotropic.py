"""Codes that lose little along their vectors: each byte by brute force, and what they gain."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from densephrases.arrays import Bytes, Floats
from densephrases.quantize.anisotropic import ALONG, first_weighed
from densephrases.quantize.product import ResidualPQCodec
from tests.index.made_up import code_for

Rows = NDArray[np.floating[Any]]


def vectors(count: int, dim: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)


def excess_costs(codec: ResidualPQCodec, residuals_ND: Rows, vectors_ND: Rows, codes_NF: Bytes) -> Floats:
    """How much more each code costs than the best in its place, after the codes before it."""
    pq, books = codec.product_quantizer, codec.codebooks
    points_NK, along_NK = (
        np.asarray(each, dtype=np.float64) @ pq.projection_DK for each in (residuals_ND, vectors_ND - pq.mean_D)
    )
    along_NK /= np.maximum(np.linalg.norm(along_NK, axis=1, keepdims=True), 1e-12)
    excess_NF = np.zeros(codes_NF.shape, dtype=np.float32)
    for n, byte in np.ndindex(codes_NF.shape):
        lost = 0.0
        for number in range(byte + 1):
            group = books.groups[number]
            places = books.components_K[group]
            errors_VM = points_NK[n, places] - (books.centroids_KV[group] * books.scale_K[group, None]).T
            lost_V = lost + errors_VM @ along_NK[n, places]
            lost = lost_V[codes_NF[n, number]]
        costs_V = np.square(errors_VM).sum(axis=1)
        if byte >= first_weighed(books):
            costs_V += ALONG * np.square(lost_V)
        excess_NF[n, byte] = costs_V[codes_NF[n, byte]] - costs_V.min()
    return excess_NF


@given(st.integers(1, 30), st.integers(0, 9))
def test_each_byte_is_the_best_after_those_before(dim: int, count: int) -> None:
    codec = ResidualPQCodec(code_for(dim))
    rows = vectors(count, dim)
    residuals = rows - np.float32(0.25) * vectors(count, dim, seed=1)
    excess = excess_costs(codec, residuals, rows, codec.encode_residuals(residuals, rows)["codes"])
    assert excess.max(initial=0) < 1e-3


def test_less_is_lost_along_vectors_than_by_the_nearest_centroids() -> None:
    codec = ResidualPQCodec(code_for(48))
    rows = vectors(3000, 48)
    chosen, nearest = (codec.decode(records) for records in (codec.encode_residuals(rows, rows), codec.encode(rows)))
    along = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    lost, lost_by_nearest = (np.square(((rows - found) * along).sum(axis=1)).mean() for found in (chosen, nearest))
    assert lost < 0.9 * lost_by_nearest
    assert np.square(rows - chosen).sum() < 1.2 * np.square(rows - nearest).sum()


def test_a_vector_at_the_mean_has_no_direction() -> None:
    codec = ResidualPQCodec(code_for(24))
    rows = np.repeat(codec.product_quantizer.mean_D[None], 3, axis=0)
    residuals = vectors(3, 24)
    assert np.array_equal(codec.encode_residuals(residuals, rows), codec.encode(residuals))


def test_a_code_depends_on_its_own_vector_alone() -> None:
    codec = ResidualPQCodec(code_for(48))
    rows, residuals = vectors(700, 48), vectors(700, 48, seed=1)
    together = codec.encode_residuals(residuals, rows)
    alone = [codec.encode_residuals(residuals[n : n + 1], rows[n : n + 1]) for n in range(0, 700, 50)]
    assert np.array_equal(together[::50], np.concatenate(alone))
