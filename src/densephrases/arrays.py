"""Array types, named by what they hold, runs of neighbouring numbers, and inner products."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]


def ranges(first_H: Ints, count_H: Ints) -> tuple[Ints, Ints]:
    """The numbers first, first + 1, ... , `count` of them, of every pair in turn, and which pair each belongs to."""
    owner_N = np.repeat(np.arange(len(count_H)), count_H)
    before_H = np.cumsum(count_H) - count_H
    return owner_N, np.arange(len(owner_N)) + (first_H - before_H)[owner_N]


def distinct(keys_N: Ints) -> tuple[Ints, Ints]:
    """The different keys, ascending, and the place of each key among them; faster than `np.unique` with inverse."""
    ordered_N = np.sort(keys_N)
    distinct_K = ordered_N[np.append(True, ordered_N[1:] != ordered_N[:-1])[: len(ordered_N)]]
    return distinct_K, distinct_K.searchsorted(keys_N)


def contains(ordered_K: Ints, keys_N: Ints) -> Mask:
    """Marks the keys that are among ascending ones."""
    if len(ordered_K) == 0:
        return np.zeros(len(keys_N), dtype=bool)
    return np.asarray(ordered_K.take(ordered_K.searchsorted(keys_N), mode="clip") == keys_N)


def owners(edges_P: NDArray[np.integer[Any]], rows_N: Ints) -> Ints:
    """Which item each row belongs to, if item i has the rows from `edges_P[i]` to `edges_P[i + 1]`."""
    return np.asarray(np.searchsorted(edges_P, rows_N, side="right") - 1, dtype=np.int64)


def inner_products(rows: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    """The inner product of each row with the vector, or with the one at the same place: shapes (..., M) are broadcast.

    Each is computed alone. In a product of matrices the last digits depend on the other rows and on the threads.
    """
    return np.asarray(np.matmul(rows[..., None, :], vectors[..., :, None])[..., 0, 0])
