"""Runs of numbers and their owners, worked by hand and against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import contains, distinct, inner_products, owners, ranges


def test_ranges_worked_by_hand() -> None:
    owner, numbers = ranges(np.array([5, 0, 7]), np.array([2, 0, 3]))
    assert owner.tolist() == [0, 0, 2, 2, 2]
    assert numbers.tolist() == [5, 6, 7, 8, 9]


@given(st.lists(st.integers(0, 4), max_size=12))
def test_each_row_belongs_to_the_item_that_has_it(counts: list[int]) -> None:
    expected = [item for item, count in enumerate(counts) for _ in range(count)]
    found = owners(np.cumsum([0, *counts]), np.arange(sum(counts)))
    assert found.dtype == np.int64
    assert found.tolist() == expected


@given(st.lists(st.integers(-5, 5), max_size=12), st.lists(st.integers(-6, 6), max_size=12))
def test_distinct_keys_and_which_others_are_among_them(keys: list[int], others: list[int]) -> None:
    found, place = distinct(np.array(keys, dtype=np.int64))
    assert found.tolist() == sorted(set(keys))
    assert [sorted(set(keys))[at] for at in place.tolist()] == keys
    assert contains(found, np.array(others, dtype=np.int64)).tolist() == [other in keys for other in others]


def test_an_inner_product_does_not_depend_on_other_rows() -> None:
    random = np.random.default_rng(0)
    rows, vectors = (random.normal(size=(40, 97)).astype(np.float32) for _ in range(2))
    together = inner_products(rows, vectors[0])
    np.testing.assert_allclose(together, rows @ vectors[0], atol=1e-4)
    assert [inner_products(rows[at : at + 1], vectors[0])[0] for at in range(40)] == together.tolist()
    assert inner_products(rows, vectors)[3] == inner_products(rows[3], vectors[3])
    assert inner_products(rows, vectors[:, None])[5].tolist() == inner_products(rows, vectors[5]).tolist()
    assert inner_products(rows[:0], vectors[0]).shape == (0,)
