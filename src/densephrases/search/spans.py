"""The pair search within one passage: the best start and end, no further apart than a phrase may be long."""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Scores = NDArray[np.float32]


class Span(NamedTuple):
    """Tokens `start` to `end`, both inclusive."""

    start: int
    end: int
    score: float


def best_span(
    start_T: Scores, end_T: Scores, reach_T: NDArray[np.int64], coherency_TT: Scores | None = None
) -> Span | None:
    """The span i <= j <= reach[i] with the highest start_i + end_j (+ coherency_ij); None if every score is -inf.

    A token that may not begin or end a phrase has the score -inf.
    """
    if len(start_T) == 0:
        return None
    width = int((reach_T - np.arange(len(reach_T))).max()) + 1
    padded = np.concatenate([end_T, np.full(width - 1, -np.inf, dtype=end_T.dtype)])
    total_TW = start_T[:, None] + sliding_window_view(padded, width)
    if coherency_TT is not None:
        total_TW = total_TW + _diagonals(coherency_TT, width)
    offsets_W = np.arange(width)
    total_TW = np.where(offsets_W <= (reach_T - np.arange(len(reach_T)))[:, None], total_TW, -np.inf)
    flat = int(total_TW.argmax())
    start, offset = divmod(flat, width)
    score = float(total_TW[start, offset])
    return None if score == -np.inf else Span(start, start + offset, score)


def _diagonals(matrix_TT: Scores, width: int) -> Scores:
    """Row i of the result holds matrix[i, i], matrix[i, i + 1], ... , matrix[i, i + width - 1]."""
    count = len(matrix_TT)
    columns = np.minimum(np.arange(count)[:, None] + np.arange(width), count - 1)
    return np.asarray(np.take_along_axis(matrix_TT, columns, axis=1))
