"""Runs of numbers and their owners, worked by hand and against plain loops."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import owners, ranges


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
