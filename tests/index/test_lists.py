"""Lists of passages: faiss compares what the store's first bits and means say, no more and no less."""

import faiss
import numpy as np
import pytest

from densephrases.index import lists
from densephrases.index.compact import CompactCoder
from densephrases.index.lists import Comparison, Ranking, packed, passage_lists, search_lists
from densephrases.index.vectors import VectorStore
from tests.index.made_up import code_for

DIM = 48


def store_with(rows_P: list[int]) -> VectorStore:
    vectors = np.random.default_rng(0).normal(size=(sum(rows_P), DIM)).astype(np.float32)
    return VectorStore.of(vectors, np.array(rows_P), "compact", code_for(DIM))


def coder_of(store: VectorStore) -> CompactCoder:
    assert isinstance(store.coder, CompactCoder)
    return store.coder


@pytest.mark.parametrize("packed_rows", [1, 50, 1 << 18])
@pytest.mark.parametrize("rows_P", [[70], [0, 33, 1, 0, 64, 32, 0], [1] * 40])
def test_scores_are_those_of_means_and_upper_bits(
    rows_P: list[int], packed_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "_PACKED_ROWS", packed_rows)
    store = store_with(rows_P)
    coder, comparison = coder_of(store), Comparison(coder_of(store))
    index = passage_lists(store, comparison)
    queries = np.random.default_rng(1).normal(size=(4, DIM)).astype(np.float32)
    asked = comparison.compared(coder.asked(queries))
    everything = faiss.SearchParametersIVF(nprobe=len(rows_P))
    ranking = Ranking(store, comparison)
    of_lists = ranking.best(ranking.asked(queries), len(rows_P))
    scores, found = search_lists(index, asked, len(store), *of_lists, everything)
    assert [sorted(rows) for rows in found.tolist()] == [list(range(len(store)))] * 4
    rough = np.zeros((len(store), len(coder.books.numbers_K)), dtype=np.float32)
    for byte, group in enumerate(coder.books.groups[: comparison.codes]):
        upper = store.records_N["codes"][:, byte] >> 4
        rough[:, coder.books.numbers_K[group]] = coder.branches[group].T[upper]
    assert store.means is not None
    means = np.repeat(coder.means.numbers(store.means.records_P), rows_P, axis=0)
    expected = asked @ comparison.compared(means).T + coder.asked(queries) @ rough.T
    spread = expected.max() - expected.min()
    np.testing.assert_allclose(scores, np.take_along_axis(expected, found, axis=1), atol=0.02 * spread)


def test_passages_with_more_rows_are_ranked_higher() -> None:
    """Than their mean alone would be: the best of many rows is further above it."""
    store = store_with([2, 60, 0, 7])
    assert store.means is not None
    store.means.records_P[:] = store.means.records_P[0]
    ranking = Ranking(store, Comparison(coder_of(store)))
    asked = ranking.asked(np.random.default_rng(1).normal(size=(3, DIM)).astype(np.float32))
    order, scores = ranking.best(asked, 4)
    assert order.tolist() == [[1, 3, 0, 2]] * 3
    np.testing.assert_allclose(scores, np.repeat(scores[:, :1], 4, axis=1), atol=1e-4)


def test_codes_are_packed_as_faiss_packs_them() -> None:
    random = np.random.default_rng(0)
    for codes in (1, 2, 5, 6):
        quantizer = faiss.IndexFlatIP(codes)
        quantizer.add(np.zeros((1, codes), dtype=np.float32))
        index = faiss.IndexIVFPQFastScan(quantizer, codes, 1, codes, 4, faiss.METRIC_INNER_PRODUCT, 32)
        index.by_residual = False
        faiss.copy_array_to_vector(np.tile(np.arange(16, dtype=np.float32), codes), index.pq.centroids)
        index.is_trained = True
        values = random.integers(16, size=(75, codes)).astype(np.uint8)
        index.add(values.astype(np.float32))
        held = faiss.downcast_InvertedLists(index.invlists)
        size = 3 * held.block_size
        np.testing.assert_array_equal(packed(values, np.array([75])), faiss.rev_swig_ptr(held.get_codes(0), size))


def test_every_number_that_fits_is_compared_once() -> None:
    comparison = Comparison(CompactCoder(code_for(384)))
    numbers = np.arange(1, len(comparison.coder.books.numbers_K) + 1, dtype=np.float32)[None]
    compared = comparison.compared(numbers)[0]
    assert len(compared) == comparison.codes * comparison.room
    assert len(set(compared.tolist())) == len(compared) < numbers.size
