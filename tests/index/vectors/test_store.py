"""Stores: how much quantization may lose, and that scores are inner products with decoded vectors."""

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from densephrases.arrays import Floats
from densephrases.index.files.checked import CheckedArray
from densephrases.index.kinds import QUANTIZERS, Quantizer
from densephrases.index.settings import quantizer_of
from densephrases.index.vectors import encoded
from densephrases.index.vectors import store as store_module
from densephrases.index.vectors.encoded import CODECS, fit_codec
from densephrases.index.vectors.store import VectorStore
from tests.index.made_up import code_for, passages_of, store_of

VALUES = st.floats(-100, 100, width=32)
VECTORS = npst.arrays(np.float32, st.tuples(st.integers(0, 12), st.integers(2, 9)), elements=VALUES)
KINDS = st.sampled_from(QUANTIZERS)


@given(VECTORS, KINDS, st.data())
def test_scores_are_products_with_decoded_rows(vectors: Floats, kind: Quantizer, data: st.DataObject) -> None:
    store = store_of(vectors, kind)
    query = data.draw(npst.arrays(np.float32, vectors.shape[1], elements=VALUES))
    numbers = st.integers(0, max(len(vectors) - 1, 0))
    rows = np.array(data.draw(st.lists(numbers, max_size=20 if len(vectors) else 0)), dtype=np.int64)
    expected = store.decode(rows).astype(np.float64) @ query.astype(np.float64)
    np.testing.assert_allclose(store.batch_scores(rows, query[None])[0], expected, rtol=1e-4, atol=0.5)
    for block_rows in (1, 3, 100):
        scanned = [scores for _, scores in store.scan(query[None], block_rows)]
        found = np.concatenate([np.zeros((1, 0), np.float32), *scanned], axis=1)[0]
        np.testing.assert_allclose(found, store.decode(slice(None)) @ query, rtol=1e-4, atol=0.5)


@pytest.mark.parametrize(("shared_rows", "threads"), [(0, 1), (0, 2), (0, 9), (1000, 2)])
@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_each_query_scores_rows_of_its_own(
    quantizer: Quantizer, shared_rows: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_OWN_BLOCK_ROWS", 3)
    monkeypatch.setattr(store_module, "_SHARED_ROWS", shared_rows)
    monkeypatch.setattr(faiss, "omp_get_max_threads", lambda: threads)
    random = np.random.default_rng(0)
    store = store_of(random.normal(size=(40, 9)).astype(np.float32), quantizer)
    queries = random.normal(size=(5, 9)).astype(np.float32)
    counts = [4, 0, 1, 11, 3]
    rows = random.integers(40, size=sum(counts))
    expected = (np.repeat(queries, counts, axis=0) * store.decode(rows)).sum(axis=1)
    np.testing.assert_allclose(store.own_scores(queries, rows, np.cumsum([0, *counts])), expected, atol=1e-4)
    assert len(store.own_scores(queries[:0], rows[:0], np.zeros(1, dtype=np.int64))) == 0


@pytest.mark.parametrize(
    ("quantizer", "size"), [("fp16", 2 * 7), ("int8", 4 + 7), ("int4", 4 + 4), ("pq", 2), ("pq-small", 1)]
)
def test_size_of_a_row(quantizer: Quantizer, size: int) -> None:
    pq = quantizer_of(quantizer, code_for(7))
    assert fit_codec(quantizer, np.zeros((0, 7), dtype=np.float32), pq).row_type.itemsize == size


@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_bytes_are_read_as_they_were_encoded(quantizer: Quantizer) -> None:
    vectors = np.random.default_rng(0).normal(size=(50, 9)).astype(np.float32)
    made = store_of(vectors, quantizer)
    codec = CODECS[quantizer].from_bytes(
        np.frombuffer(made.codec.to_bytes(), dtype=np.uint8), 9, quantizer_of(quantizer, code_for(9))
    )
    assert codec.to_bytes() == made.codec.to_bytes()
    records_N = CheckedArray(np.frombuffer(made.records_N.values.tobytes(), codec.row_type))
    if made.centroids is None or codec.centroid_codec is None:
        store = VectorStore(records_N, codec)
    else:
        centroids = made.centroids.records_P.values.tobytes()
        centroids_P = CheckedArray(np.frombuffer(centroids, codec.centroid_codec.row_type))
        store = VectorStore.with_centroids(records_N, codec, centroids_P, np.cumsum([0, *passages_of(50)]))
    assert store.decode(slice(None)).tolist() == made.decode(slice(None)).tolist()
    largest = {"fp16": 0.01, "int8": 0.03, "int4": 0.8, "pq": 3.5, "pq-small": 3.5}[quantizer]
    assert np.abs(store.decode(np.array([3, 3, 49])) - vectors[[3, 3, 49]]).max() < largest


@pytest.mark.parametrize("quantizer", QUANTIZERS)
def test_blocks_keep_the_order_of_rows(quantizer: Quantizer, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(0).normal(size=(150, 5)).astype(np.float32)
    whole = store_of(vectors, quantizer)
    monkeypatch.setattr(encoded, "_BLOCK", 7)
    assert store_of(vectors, quantizer).records_N.values.tobytes() == whole.records_N.values.tobytes()


def test_residuals_are_relative_to_encoded_centroids() -> None:
    """So that they make up for the error of a centroid, even of a passage whose vectors are all equal."""
    vectors = np.repeat(np.random.default_rng(0).normal(size=(30, 24)), 7, axis=0).astype(np.float32)
    store = store_of(vectors, "pq")
    assert store.centroids is not None
    only_centroids = store.centroids.decode(np.arange(len(store)))
    assert np.square(store.decode(slice(None)) - vectors).sum() < 0.9 * np.square(only_centroids - vectors).sum()
