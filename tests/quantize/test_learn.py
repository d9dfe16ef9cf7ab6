"""Learned codes: bits go where questions look and passages differ, and no component is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import Floats
from densephrases.errors import ConfigError
from densephrases.index.vectors.store import VectorStore
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.quantize.learn import eigenvalue_allocation, learn_new_codebooks, learn_product_quantizer


def rows(count: int, dim: int, seed: int = 0) -> Floats:
    """Few directions hold most of the variance."""
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(dim, dim)))[0]
    spread = 3.0 / (1 + np.arange(dim))
    return np.asarray(np.random.default_rng(seed).normal(size=(count, dim)) * spread @ basis + 2, dtype=np.float32)


def learned(questions: Floats, vectors: Floats) -> ProductQuantizer:
    return learn_product_quantizer(
        questions, vectors, np.full(len(vectors) // 10, 10), -(-vectors.shape[1] // 6), samples=2000
    )


def score_error(pq: ProductQuantizer, vectors: Floats, queries: Floats) -> float:
    store = VectorStore.from_vectors(vectors, np.full(len(vectors) // 10, 10), "pq", pq)
    exact = queries @ vectors.T
    error = store.batch_scores(np.arange(len(store)), queries) - exact
    return float(np.square(error).sum() / np.square(exact - exact.mean(axis=1, keepdims=True)).sum())


def test_scores_are_near_at_few_bytes() -> None:
    pq = learned(rows(400, 96, seed=3), rows(3000, 96))
    assert len(pq.residual.sizes_F) == 16
    assert score_error(pq, rows(3000, 96, seed=4), rows(50, 96, seed=5)) < 0.01


def test_bytes_of_a_row() -> None:
    some = rows(30, 24)
    for given_bytes, expected in ((None, 3), (1, 1), (16, 16)):
        assert (
            len(learn_product_quantizer(some, some, np.full(3, 10), given_bytes, samples=300).residual.sizes_F)
            == expected
        )
    with pytest.raises(ConfigError, match=r"size 24 cannot have 17 bytes; expected 1 to 16"):
        learn_product_quantizer(some, some, np.full(3, 10), 17)


def test_bits_go_where_questions_look() -> None:
    """Questions look where rows differ least."""
    vectors, queries = rows(3000, 48), rows(400, 48, seed=7)[:, ::-1].copy()
    knowing, unknowing = learned(queries[::2], vectors), learned(rows(200, 48, seed=3), vectors)
    assert score_error(knowing, vectors, queries[1::2]) < 0.8 * score_error(unknowing, vectors, queries[1::2])


def test_what_passages_share_is_coded_once() -> None:
    """Rows that differ from passage to passage rather than within them."""
    about, within = rows(300, 48, seed=8), 0.2 * (rows(3000, 48, seed=9) - 2)
    together = np.repeat(about, 10, axis=0) + within
    apart = together[np.random.default_rng(0).permutation(len(together))]
    queries = rows(50, 48, seed=5)
    assert score_error(learned(queries, together), together, queries) < 0.7 * score_error(
        learned(queries, apart), apart, queries
    )


def test_a_code_is_the_same_for_the_same_vectors() -> None:
    codes = [learned(rows(50, 24, seed=3), rows(300, 24)) for _ in range(2)]
    assert codes[0].to_bytes() == codes[1].to_bytes()


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_vectors_that_do_not_differ_can_be_coded(dim: int) -> None:
    same = np.ones((30, dim), dtype=np.float32)
    store = VectorStore.from_vectors(same, np.full(3, 10), "pq", learned(same, same))
    np.testing.assert_allclose(store.decode(slice(None)), same, atol=0.01)


def test_the_small_variant_has_half_the_bytes_and_is_coarser() -> None:
    pq, queries, vectors = learned(rows(400, 96, seed=3), rows(3000, 96)), rows(50, 96, seed=5), rows(3000, 96, seed=4)
    assert pq.small is not None
    assert len(pq.small.residual.sizes_F) == 8
    assert score_error(pq, vectors, queries) < score_error(pq.small, vectors, queries) < 0.05


def test_new_codebooks_suit_other_passages_and_the_former_stay() -> None:
    queries, before, since = rows(400, 48, seed=3), rows(3000, 48), rows(3000, 48, seed=6)[:, ::-1].copy()
    former = learned(queries, before)
    found = learn_new_codebooks(former, since, np.full(300, 10), 8, samples=2000)
    assert found.find(former.digest) is not None
    assert [len(books.sizes_F) for books in found.variants] == [4, 8, 4]
    assert score_error(found, since, queries) < 0.7 * score_error(former, since, queries)


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=60), st.data())
def test_each_component_is_in_one_byte_and_bytes_have_equally_many(variance: list[float], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(variance)))
    groups = eigenvalue_allocation(np.array(variance), size)
    sizes = [len(group) for group in groups]
    assert len(groups) == size
    assert 0 < max(sizes) <= min(sizes) + 1
    assert sorted(np.concatenate(groups).tolist()) == list(range(len(variance)))


def test_products_of_variances_are_nearly_equal_and_the_first_bytes_have_the_largest() -> None:
    variance = 1 / (1 + np.arange(64)) ** 2
    groups = eigenvalue_allocation(variance, 8)
    assert [int(group[0]) for group in groups] == list(range(8))
    products = [float(np.log(variance[group]).sum()) for group in groups]
    neighbours = [float(np.log(part).sum()) for part in np.split(variance, 8)]
    assert np.ptp(products) < np.ptp(neighbours) / 5
