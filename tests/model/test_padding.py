"""Padding and batches by length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.model.padding import batches_by_length, pad_rows, token_batch

ROWS = st.lists(st.lists(st.integers(1, 9), max_size=6), max_size=6)


@given(ROWS)
def test_padded_rows_come_back(rows: list[list[int]]) -> None:
    padded = pad_rows([np.array(row, dtype=np.int64) for row in rows], 0, np.int64)
    assert padded.shape == (len(rows), max(map(len, rows), default=0))
    assert [[value for value in row if value] for row in padded.tolist()] == rows


def test_token_batch_by_hand() -> None:
    batch = token_batch([np.array([5, 6, 7]), np.array([8])], [np.array([0, 1, 1]), np.array([1])], pad_id=9)
    assert batch.ids.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert batch.types.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert batch.mask.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert {array.dtype for array in (batch.ids, batch.types, batch.mask)} == {np.dtype(np.int64)}


def test_mask_follows_length_even_where_a_token_equals_the_padding() -> None:
    rows = [np.array([9, 9]), np.array([9])]
    assert token_batch(rows, rows, pad_id=9).mask.tolist() == [[1, 1], [1, 0]]


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 120))
def test_every_row_is_in_one_batch_of_the_allowed_size(lengths: list[int], tokens: int) -> None:
    batches = list(batches_by_length(lengths, tokens))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert batch
        assert len(batch) == 1 or len(batch) * max(lengths[row] for row in batch) <= tokens


@pytest.mark.parametrize(
    ("lengths", "tokens", "expected"),
    [
        ([], 10, []),
        ([3, 9, 1], 9, [[1], [0, 2]]),
        ([4, 4, 4], 8, [[0, 1], [2]]),
        ([30], 8, [[0]]),  # a row that is too long alone still gets its batch
    ],
)
def test_longest_rows_come_first(lengths: list[int], tokens: int, expected: list[list[int]]) -> None:
    assert list(batches_by_length(lengths, tokens)) == expected
