"""The pair search against all pairs."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.scoring.in_passage import (
    Scores,
    Span,
    SpanPenalties,
    Tokens,
    best_span,
    extremes,
    ranked_spans,
)

SCORES = st.integers(-8, 8).map(float) | st.just(-math.inf)  # whole numbers: sums are exact


@dataclass(frozen=True)
class Case:
    start: list[float]
    end: list[float]
    max_span: list[int]
    coherency: list[list[float]] | None

    def search(self, penalties: SpanPenalties | None = None) -> Span | None:
        return best_span(*self.arrays(), penalties)

    def arrays(self) -> tuple[Scores, Scores, Tokens, Scores | None]:
        start, end = (np.array(scores, dtype=np.float32) for scores in (self.start, self.end))
        pairs: Scores | None = None
        if self.coherency is not None:
            pairs = np.array(self.coherency, dtype=np.float32).reshape(len(start), len(start))
        return start, end, np.array(self.max_span, dtype=np.int64), pairs

    def score(self, i: int, j: int) -> float:
        return self.start[i] + self.end[j] + (0 if self.coherency is None else self.coherency[i][j])

    def brute(self) -> float:
        pairs = ((i, j) for i in range(len(self.start)) for j in range(i, self.max_span[i] + 1))
        return max((self.score(i, j) for i, j in pairs), default=-math.inf)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    count = draw(st.integers(0, 9))
    start, end = (draw(st.lists(SCORES, min_size=count, max_size=count)) for _ in range(2))
    max_span = [draw(st.integers(i, count - 1)) for i in range(count)]
    row = st.lists(st.integers(-8, 8).map(float), min_size=count, max_size=count)
    return Case(start, end, max_span, draw(st.none() | st.lists(row, min_size=count, max_size=count)))


@given(cases())
def test_the_extremes_are_those_of_all_spans(case: Case) -> None:
    _, _, max_span, pairs = case.arrays()
    if pairs is None:
        pairs = np.zeros((len(case.start),) * 2, dtype=np.float32)
    values = [pairs[i, j] for i in range(len(case.start)) for j in range(i, case.max_span[i] + 1)] or [0]
    assert extremes(pairs, max_span) == (min(values), max(values))


@given(cases(), st.lists(st.integers(0, 8), min_size=81, max_size=81), st.sampled_from([1, 2, 32]))
def test_costs_like_brute_force(case: Case, several: list[int], first: int) -> None:
    """The first of equals, as without penalties."""
    penalties = np.array(several, dtype=np.float32).reshape(9, 9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("densephrases.search.scoring.in_passage._FIRST_SPANS", first)
        found = case.search(lambda start_N, end_N: penalties[start_N, end_N])
    spans = [(i, j) for i in range(len(case.start)) for j in range(i, case.max_span[i] + 1)]
    scored = [Span(i, j, case.score(i, j) - float(penalties[i, j])) for i, j in spans]
    best = max(scored, key=lambda span: span.score, default=None)
    assert found == (None if best is None or best.score == -math.inf else best)


@given(
    cases(),
    st.none() | st.lists(st.integers(0, 8), min_size=81, max_size=81),
    st.sampled_from([1, 2, 32]),
    st.sampled_from([-math.inf, -3.0, 4.0]),
)
def test_all_spans_best_first(case: Case, several: list[int] | None, first: int, least: float) -> None:
    """Ties by position; penalties are paid."""
    costs = np.array(several or [0] * 81, dtype=np.float32).reshape(9, 9)
    penalties: SpanPenalties | None = None if several is None else lambda start_N, end_N: costs[start_N, end_N]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("densephrases.search.scoring.in_passage._FIRST_SPANS", first)
        found = list(ranked_spans(*case.arrays(), penalties, least))
    spans = [(i, j) for i in range(len(case.start)) for j in range(i, case.max_span[i] + 1)]
    scored = [Span(i, j, case.score(i, j) - float(costs[i, j])) for i, j in spans]
    kept = [span for span in scored if span.score >= least and span.score > -math.inf]
    assert found == sorted(kept, key=lambda span: (-span.score, span.start, span.end))


@given(cases())
def test_like_brute_force(case: Case) -> None:
    span, best = case.search(), case.brute()
    if span is None:
        assert best == -math.inf
    else:
        assert span.start <= span.end <= case.max_span[span.start]
        assert span.score == case.score(span.start, span.end) == best > -math.inf


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (Case([], [], [], None), None),
        (Case([2.0], [3.0], [0], None), Span(0, 0, 5.0)),
        (Case([1.0, 0.0], [9.0, 2.0], [1, 1], None), Span(0, 0, 10.0)),
        (Case([0.0, 1.0], [9.0, 2.0], [1, 1], None), Span(0, 0, 9.0)),
        (Case([0.0, 9.0], [9.0, 2.0], [1, 1], None), Span(1, 1, 11.0)),  # an end before its start does not count
        (Case([5.0, 0.0, 0.0], [0.0, 0.0, 5.0], [1, 2, 2], None), Span(0, 0, 5.0)),  # out of reach; first of equals
        (Case([5.0, 0.0, 0.0], [0.0, 0.0, 5.0], [2, 2, 2], None), Span(0, 2, 10.0)),
        (Case([1.0, 1.0], [1.0, 1.0], [1, 1], [[0.0, 7.0], [99.0, 0.0]]), Span(0, 1, 9.0)),
        (Case([-math.inf, 1.0], [4.0, -math.inf], [1, 1], None), None),  # only an end before the only start
    ],
)
def test_by_hand(case: Case, expected: Span | None) -> None:
    assert case.search() == expected
