"""Vectors in clusters, candidates by sorting all scores, and files as a segment gives them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes, Floats, Ints
from densephrases.index.files.mapped import map_file
from densephrases.index.vectors.store import VectorStore


def clustered(rows: int, dim: int, seed: int = 0) -> Floats:
    """Vectors around the same twenty centres, whatever the seed."""
    centres = 3 * np.random.default_rng(0).normal(size=(20, dim))
    random = np.random.default_rng(seed)
    return (centres[random.integers(20, size=rows)] + random.normal(size=(rows, dim))).astype(np.float32)


def oracle(store: VectorStore, queries: Floats, k: int, allowed: NDArray[np.bool_] | None) -> tuple[Floats, Ints]:
    scores = store.batch_scores(np.arange(len(store)), queries)
    if allowed is not None:
        scores[:, ~allowed] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best = np.take_along_axis(scores, order, axis=1)
    order = np.where(best == -np.inf, -1, order)
    missing = ((0, 0), (0, max(k - len(store), 0)))
    return np.pad(best, missing, constant_values=-np.inf), np.pad(order, missing, constant_values=-1)


def contents(folder: Path) -> Callable[[str], Bytes]:
    """Of files by name."""
    return lambda name: map_file(folder / name)
