"""Rows of different lengths to rectangular batches with little padding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Padded encoder inputs, all of shape (rows, longest row)."""

    ids: Any
    types: Any
    mask: Any


def pad_rows(rows: Sequence[NDArray[Any]], value: float, dtype: Any, multiple: int = 1) -> NDArray[Any]:
    """One array of all rows, padded with `value` to a width that is a multiple of `multiple`."""
    longest = max((len(r) for r in rows), default=0)
    padded = np.full((len(rows), -(-longest // multiple) * multiple), value, dtype=dtype)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


def token_batch(
    ids: Sequence[NDArray[np.int64]], types: Sequence[NDArray[np.int64]], pad_id: int, multiple: int = 1
) -> TokenBatch:
    lengths = np.array([len(row) for row in ids])
    padded = pad_rows(ids, pad_id, np.int64, multiple)
    mask = (np.arange(padded.shape[1]) < lengths[:, None]).astype(np.int64)
    return TokenBatch(padded, pad_rows(types, 0, np.int64, multiple), mask)


def batches_by_length(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Row numbers in batches of similar length; a batch of several rows has at most `tokens` tokens with padding."""
    order = np.argsort(-np.asarray(lengths), kind="stable")
    batch: list[int] = []
    for i in order.tolist():
        if batch and lengths[batch[0]] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch
