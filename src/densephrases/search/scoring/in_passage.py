"""The pair search within one passage: the best start and end within the longest span of a phrase."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Tokens = NDArray[np.int64]
SpanPenalties = Callable[[Tokens, Tokens], Scores]
"""From the first and the last tokens of spans to the penalty of each, which is never negative."""

_FIRST_SPANS = 32  # whose penalties are computed first
_MORE = 4  # times as many in each further round

# Shape suffixes: T tokens of the passage, W tokens that a span may have, N spans.


class Span(NamedTuple):
    """Tokens `start` to `end`, both inclusive."""

    start: int
    end: int
    score: float


NO_SPAN = Span(0, -1, -np.inf)


def best_span(
    start_T: Scores,
    end_T: Scores,
    max_span_T: Tokens,
    coherency_TT: Scores | None = None,
    penalties: SpanPenalties | None = None,
) -> Span | None:
    """The span i <= j <= max_span[i] with the highest start_i + end_j (+ coherency_ij) (- penalty_ij).

    A token that may not start or end a phrase has the score -inf; None if all scores are -inf.
    """
    if len(start_T) == 0:
        return None
    total_TW = _totals(start_T, end_T, max_span_T, coherency_TT)
    if penalties is not None:
        return _best_after_penalties(total_TW, penalties)
    start, offset = divmod(int(total_TW.argmax()), total_TW.shape[1])
    score = float(total_TW[start, offset])
    return None if score == -np.inf else Span(start, start + offset, score)


def ranked_spans(
    start_T: Scores,
    end_T: Scores,
    max_span_T: Tokens,
    coherency_TT: Scores | None = None,
    penalties: SpanPenalties | None = None,
    least: float = -np.inf,
) -> Iterator[Span]:
    """The spans that score at least `least`, best first, as `best_span` scores them; penalties are paid when needed."""
    if len(start_T) == 0:
        return
    total_TW = _totals(start_T, end_T, max_span_T, coherency_TT)
    start_N, offset_N = np.nonzero((total_TW > -np.inf) & (total_TW >= least))
    total_N = total_TW[start_N, offset_N]
    order = np.argsort(-total_N, kind="stable")
    waiting: list[tuple[float, int, int]] = []
    for first, count in _rounds(len(order)):
        some = order[first : first + count]
        left_N = total_N[some]
        if penalties is not None:
            left_N = left_N - penalties(start_N[some], start_N[some] + offset_N[some])
        waiting += zip(
            (-left_N).tolist(), start_N[some].tolist(), (start_N[some] + offset_N[some]).tolist(), strict=True
        )
        waiting.sort()
        beyond = total_N[order[first + count]] if first + count < len(order) else -np.inf
        certain = sum(-negative > beyond for negative, _, _ in waiting)
        yield from (Span(start, end, -negative) for negative, start, end in waiting[:certain] if -negative >= least)
        del waiting[:certain]
    yield from (Span(start, end, -negative) for negative, start, end in waiting if -negative >= least)


def extremes(values_TT: Scores, max_span_T: Tokens) -> tuple[float, float]:
    """The least and the largest value of any span; zeros if there is none."""
    longest_T = max_span_T - np.arange(len(max_span_T))
    values_TW = _diagonals(values_TT, int(longest_T.max(initial=-1)) + 1)
    of_spans = values_TW[np.arange(values_TW.shape[1]) <= longest_T[:, None]]
    return (float(of_spans.min()), float(of_spans.max())) if len(of_spans) else (0.0, 0.0)


def _rounds(spans: int) -> Iterator[tuple[int, int]]:
    """The first span of each round, and how many it has."""
    first, count = 0, _FIRST_SPANS
    while first < spans:
        yield first, count
        first, count = first + count, count * _MORE


def _totals(start_T: Scores, end_T: Scores, max_span_T: Tokens, coherency_TT: Scores | None) -> Scores:
    """Row i has the scores of the spans that start at i, by their lengths; -inf beyond the longest."""
    width = int((max_span_T - np.arange(len(max_span_T))).max()) + 1
    padded = np.concatenate([end_T, np.full(width - 1, -np.inf, dtype=end_T.dtype)])
    total_TW = start_T[:, None] + sliding_window_view(padded, width)
    if coherency_TT is not None:
        total_TW = total_TW + _diagonals(coherency_TT, width)
    allowed_TW = np.arange(width) <= (max_span_T - np.arange(len(max_span_T)))[:, None]
    return np.asarray(np.where(allowed_TW, total_TW, -np.inf))


def _best_after_penalties(total_TW: Scores, penalties: SpanPenalties) -> Span | None:
    """Scans spans by descending score until no other can exceed the best score after penalties."""
    start_N, offset_N = np.nonzero(total_TW > -np.inf)
    total_N = total_TW[start_N, offset_N]
    count = _FIRST_SPANS
    while len(total_N):
        least = np.partition(total_N, -count)[-count] if count < len(total_N) else -np.inf
        head = np.flatnonzero(total_N >= least)
        left_N = total_N[head] - penalties(start_N[head], start_N[head] + offset_N[head])
        best = int(left_N.argmax())
        if left_N[best] >= least:
            start, offset = int(start_N[head[best]]), int(offset_N[head[best]])
            return Span(start, start + offset, float(left_N[best]))
        count *= _MORE
    return None


def _diagonals(matrix_TT: Scores, width: int) -> Scores:
    """Row i of the result holds matrix[i, i], matrix[i, i + 1], ... , matrix[i, i + width - 1]."""
    count = len(matrix_TT)
    columns = np.minimum(np.arange(count)[:, None] + np.arange(width), count - 1)
    return np.asarray(np.take_along_axis(matrix_TT, columns, axis=1))
