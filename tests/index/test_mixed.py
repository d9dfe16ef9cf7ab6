"""Codes of falling width: near where it counts, cheap where it does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import PhraseIndexError
from densephrases.index.coder import Floats
from densephrases.index.fields import row_type
from densephrases.index.mixed import MixedCoder
from densephrases.index.scaled import Int4Coder
from densephrases.model.statistics import VectorStatistics


def rows(count: int, dim: int, seed: int = 0) -> Floats:
    """Few directions hold most of the variance."""
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(dim, dim)))[0]
    spread = 3.0 / (1 + np.arange(dim))
    return np.asarray(np.random.default_rng(seed).normal(size=(count, dim)) * spread @ basis + 2, dtype=np.float32)


def questions(count: int, dim: int) -> Floats:
    return rows(count, dim, seed=7)[:, ::-1].copy()


def score_error(coder: MixedCoder | Int4Coder, vectors: Floats, queries: Floats) -> float:
    exact = queries @ vectors.T
    error = coder.scorer(queries)(coder.encode(vectors)) - exact
    return float(np.square(error).sum() / np.square(exact - exact.mean(axis=1, keepdims=True)).sum())


def test_scores_are_near_at_fewer_bytes_than_four_bits_take() -> None:
    vectors, queries = rows(3000, 48), rows(50, 48, seed=3)
    coder = MixedCoder.fit(vectors)
    assert coder.row_type.itemsize == 12
    assert score_error(coder, vectors, queries) < 0.005
    assert np.square(coder.decode(coder.encode(vectors)) - vectors).sum() < 0.02 * np.square(vectors).sum()


def test_bits_go_where_questions_look() -> None:
    """Questions look where rows differ least, which alone would be dropped."""
    vectors, queries = rows(3000, 48), questions(400, 48)
    known = VectorStatistics.of(queries[::2], queries[::2], vectors)
    with_questions, without = MixedCoder.fit(vectors, known), MixedCoder.fit(vectors)
    assert score_error(with_questions, vectors, queries[1::2]) < 0.7 * score_error(without, vectors, queries[1::2])


@pytest.mark.parametrize("count", [0, 1, 5])
def test_what_the_model_knows_serves_an_index_that_begins_small(count: int) -> None:
    vectors = rows(3000, 48)
    known = VectorStatistics.of(rows(200, 48, seed=3), rows(200, 48, seed=4), rows(3000, 48, seed=5))
    assert score_error(MixedCoder.fit(vectors[:count], known), vectors, rows(50, 48, seed=6)) < 0.03


@given(st.integers(1, 60), st.integers(0, 40))
def test_any_size_can_be_coded(dim: int, count: int) -> None:
    vectors = rows(count, dim)
    coder = MixedCoder.fit(vectors)
    records = coder.encode(vectors)
    assert records.dtype == row_type(dim)
    assert coder.decode(records).shape == vectors.shape
    assert np.isfinite(coder.decode(records)).all()
    assert coder.sketch(records).shape[1] == coder.sketch_queries(vectors).shape[1]


def test_numbers_say_on_average_what_was_there() -> None:
    vectors = rows(20_000, 48)
    coder = MixedCoder.fit(vectors)
    numbers, coded = coder.rotation.numbers(vectors), coder._numbers(coder.encode(vectors))
    share = (numbers * coded).sum(axis=0)[:20] / np.square(numbers).sum(axis=0)[:20]  # of the others little is known
    assert np.allclose(share, 1, atol=0.03)


def test_rows_that_stand_out_are_not_cut_off() -> None:
    """An index begins with rows of one kind, and others follow."""
    first, later = 0.3 * rows(2000, 48), rows(2000, 48, seed=9)
    known = VectorStatistics.of(rows(200, 48, seed=3), rows(200, 48, seed=4), rows(3000, 48, seed=5))
    queries = rows(50, 48, seed=6)
    assert score_error(MixedCoder.fit(first, known), later, queries) < 0.01


def test_sketches_rank_rows_nearly_as_scores_do() -> None:
    vectors, queries = rows(2000, 96), rows(20, 96, seed=3)
    coder = MixedCoder.fit(vectors)
    records = coder.encode(vectors)
    best = np.argsort(-coder.scorer(queries)(records), axis=1)[:, :10]
    proposed = np.argsort(-(coder.sketch_queries(queries) @ coder.sketch(records).T), axis=1)[:, :50]
    found = [len(set(a) & set(b)) / 10 for a, b in zip(best.tolist(), proposed.tolist(), strict=True)]
    assert np.mean(found) > 0.95


def test_codes_of_an_earlier_kind_are_refused() -> None:
    with pytest.raises(PhraseIndexError, match="build it anew"):
        MixedCoder.from_bytes(np.zeros(7, dtype=np.uint8), 384)
