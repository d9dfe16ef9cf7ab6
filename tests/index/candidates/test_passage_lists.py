"""Lists of passages: faiss compares exactly the upper bits of the store's residuals and centroids."""

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.candidates import coarse_lists
from densephrases.index.candidates.passage_lists import PassageRanking, passage_lists
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.product import PQCodec, ResidualPQCodec
from tests.index.made_up import code_for

DIM = 48


def store_with(rows_P: list[int]) -> VectorStore:
    vectors = np.random.default_rng(0).normal(size=(sum(rows_P), DIM)).astype(np.float32)
    return VectorStore.from_vectors(vectors, np.array(rows_P), "pq", code_for(DIM))


def codec_of(store: VectorStore) -> ResidualPQCodec:
    assert isinstance(store.codec, ResidualPQCodec)
    return store.codec


def by_upper_bits(codec: PQCodec, codes_NF: NDArray[np.uint8]) -> Floats:
    """What the upper four bits of all bytes say of all numbers (N, K)."""
    rough = np.zeros((len(codes_NF), len(codec.codebooks.components_K)), dtype=np.float32)
    for byte, group in enumerate(codec.codebooks.groups):
        rough[:, codec.codebooks.components_K[group]] = codec.coarse_centroids[group].T[codes_NF[:, byte] >> 4]
    return rough


@pytest.mark.parametrize("packed_rows", [1, 50, 1 << 18])
@pytest.mark.parametrize("rows_P", [[70], [0, 33, 1, 0, 64, 32, 0], [1] * 40])
def test_scores_are_those_of_lists_and_upper_bits(
    rows_P: list[int], packed_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coarse_lists, "_PACKED_ROWS", packed_rows)
    store = store_with(rows_P)
    codec, passages = codec_of(store), len(rows_P)
    random = np.random.default_rng(1)
    asked = codec.project_queries(random.normal(size=(4, DIM)).astype(np.float32))
    of_lists = random.normal(size=(4, passages)).astype(np.float32)
    everything = np.tile(np.arange(passages), (4, 1)), of_lists, faiss.SearchParametersIVF(nprobe=passages)
    scores, found = passage_lists(store).search(asked, len(store), *everything)
    assert [sorted(rows) for rows in found.tolist()] == [list(range(len(store)))] * 4
    expected = asked @ by_upper_bits(codec, store.records_N[:]["codes"]).T
    spread = expected.max() - expected.min()
    expected += np.repeat(of_lists, rows_P, axis=1)
    np.testing.assert_allclose(scores, np.take_along_axis(expected, found, axis=1), atol=0.02 * spread)


def test_means_score_what_their_upper_bits_say() -> None:
    store = store_with([3, 0, 9, 1, 40] * 20)
    codec = codec_of(store)
    assert store.centroids is not None
    asked = codec.project_queries(np.random.default_rng(1).normal(size=(3, DIM)).astype(np.float32))
    order, scores = PassageRanking(store).best(asked, 100)
    assert [sorted(passages) for passages in order.tolist()] == [list(range(100))] * 3
    codes = store.centroids.records_P[:]["codes"]
    expected = asked @ by_upper_bits(codec.centroid_codec, codes).T
    spread = expected.max() - expected.min()
    np.testing.assert_allclose(scores, np.take_along_axis(expected, order, axis=1), atol=0.02 * spread)


def test_passages_with_more_rows_are_ranked_higher() -> None:
    """Than their mean alone would be: the best of many rows is further above it."""
    store = store_with([2, 60, 0, 7])
    assert store.centroids is not None
    store.centroids.records_P.values[:] = store.centroids.records_P.values[0]
    asked = codec_of(store).project_queries(np.random.default_rng(1).normal(size=(3, DIM)).astype(np.float32))
    order, scores = PassageRanking(store).best(asked, 4)
    assert order.tolist() == [[1, 3, 0, 2]] * 3
    spread = 2 * np.linalg.norm(asked, axis=1).max()
    np.testing.assert_allclose(scores, np.repeat(scores[:, :1], 4, axis=1), atol=0.02 * spread)


def test_lists_that_are_not_looked_into_are_not_found() -> None:
    store = store_with([5] * 8)
    asked = codec_of(store).project_queries(np.random.default_rng(1).normal(size=(2, DIM)).astype(np.float32))
    looked_into = np.array([[6, 1], [0, 7]])
    parameters = faiss.SearchParametersIVF(nprobe=2)
    _, found = passage_lists(store).search(asked, 12, looked_into, np.zeros((2, 2), np.float32), parameters)
    assert [sorted(rows) for rows in found.tolist()] == [
        [-1, -1, *range(5, 10), *range(30, 35)],
        [-1, -1, *range(5), *range(35, 40)],
    ]
