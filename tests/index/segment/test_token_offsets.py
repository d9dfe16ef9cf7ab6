"""TokenOffsets, lengths and max_span of rows against plain arrays of them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from densephrases.index.files.checked import CheckedArray
from densephrases.index.segment.token_offsets import TOKEN_OFFSET_ARRAYS, TokenOffsets, TokenOffsetWriter

Table = NDArray[np.int64]

STEP = st.sampled_from([0, 1, 5, 255, 256, 257, 5000]) | st.integers(0, 40)
LENGTH = st.integers(0, 12) | st.sampled_from([255, 256, 65535, 65536, (1 << 24) - 1])
MAX_SPAN = st.integers(0, 255)
ROWS = st.lists(st.tuples(STEP, LENGTH, MAX_SPAN), max_size=60)


def table_of(rows: Sequence[tuple[int, int, int]]) -> Table:
    """Place, length and max_span of each row, from the steps between places."""
    table_R3 = np.array(rows, dtype=np.int64).reshape(-1, 3)
    table_R3[:, 0] = np.cumsum(table_R3[:, 0])
    return table_R3


def written(tables: Sequence[Table]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, list[NDArray[Any]]] = defaultdict(list)
    writer = TokenOffsetWriter(
        lambda name, values: arrays[name].append(np.asarray(values).astype(TOKEN_OFFSET_ARRAYS[name]))
    )
    for table_R3 in tables:
        writer.add(*table_R3.T)
    writer.finish()
    return {name: np.concatenate([*arrays[name], np.zeros(0, dtype)]) for name, dtype in TOKEN_OFFSET_ARRAYS.items()}


def opened(arrays: dict[str, NDArray[Any]]) -> TokenOffsets:
    return TokenOffsets.open(arrays.__getitem__, lambda name: CheckedArray(arrays[name]))


def read(arrays: dict[str, NDArray[Any]], rows_N: NDArray[np.int64]) -> Table:
    places = opened(arrays)
    return np.stack([places.offsets(rows_N), places.lengths(rows_N), places.max_span(rows_N)], axis=1)


@given(ROWS, st.data())
def test_any_rows_are_read_in_any_order(rows: list[tuple[int, int, int]], data: st.DataObject) -> None:
    table_R3 = table_of(rows)
    arrays = written([table_R3])
    asked = data.draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), max_size=20 if rows else 0))
    rows_N = np.array(asked, dtype=np.int64)
    np.testing.assert_array_equal(read(arrays, rows_N), table_R3[rows_N])
    np.testing.assert_array_equal(read(arrays, np.arange(len(rows))), table_R3)
    assert opened(arrays).longest_span == table_R3[:, 2].max(initial=0)


@given(ROWS, st.lists(st.integers(0, 60), max_size=4))
def test_parts_leave_no_trace(rows: list[tuple[int, int, int]], cuts: list[int]) -> None:
    table_R3 = table_of(rows)
    whole, parts = written([table_R3]), written(np.split(table_R3, sorted(min(cut, len(rows)) for cut in cuts)))
    for name in TOKEN_OFFSET_ARRAYS:
        np.testing.assert_array_equal(parts[name], whole[name])


@pytest.mark.parametrize("kinds", [1, 254, 255, 256, 257, 2000])
def test_extents_beyond_the_frequent_ones_are_listed(kinds: int) -> None:
    """The first of them are as many as all others together."""
    random = np.random.default_rng(kinds)
    kind_R = np.concatenate([np.arange(kinds), np.minimum(random.integers(kinds, size=9000), 9)])
    random.shuffle(kind_R)
    table_R3 = np.stack([np.sort(random.integers(10**6, size=len(kind_R))), kind_R // 40 + 1, kind_R % 40], axis=1)
    arrays = written([table_R3])
    np.testing.assert_array_equal(read(arrays, np.arange(len(table_R3))), table_R3)
    assert len(arrays["rare_extent_vectors"]) == len(arrays["rare_extents"]) == max(kinds - 255, 0)


def test_rows_of_ordinary_text_take_little_more_than_two_bytes() -> None:
    random = np.random.default_rng(0)
    columns = [random.integers(1, 22, 10**5), random.integers(1, 13, 10**5), random.integers(0, 20, 10**5)]
    arrays = written([table_of(np.stack(columns, axis=1).tolist())])
    assert sum(array.nbytes for array in arrays.values()) < 2.3 * 10**5
