"""Candidate rows against a list of all rows with the lexical penalties of their passages."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from densephrases.arrays import Floats, Ints
from densephrases.search.scoring.candidates import OVERSAMPLE, Candidates, Proposals, among_best
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Queries
from tests.search.made_up import MemoryIndex, indexes
from tests.search.scoring.test_pairs import brute_force, queries


def best_scores(
    segments: list[SearchableSegment], asked: Queries, question: int, vector_D: Floats, count: int
) -> list[float]:
    """Of the rows that should be taken: the best by vectors as if all segments were one, then those with penalties."""
    found: list[tuple[float, int, int]] = []
    for number, each in enumerate(segments):
        rows = each.listed_rows()
        scores = each.segment.store.own_scores(vector_D[None], rows, np.array([0, len(rows)]))
        found += [(-score, number, row) for score, row in zip(scores.tolist(), rows.tolist(), strict=True)]
    kept = sorted(found)[: count if asked.terms is None else OVERSAMPLE * count]
    brute = brute_force(segments, asked, question, 0.0)
    return sorted((-score - brute.word_cost(number, row) for score, number, row in kept), reverse=True)[:count]


@given(indexes(), queries(), st.integers(1, 6))
def test_the_best_rows_are_taken(index: MemoryIndex, asked: Queries, count: int) -> None:
    segments = index.searchable()
    if not segments:
        return
    candidates = Candidates.best(segments, asked, count, 1.0, asked.terms)
    for side, vectors_BD in enumerate((asked.start_BD, asked.end_BD)):
        for question, vector_D in enumerate(vectors_BD):
            brute = brute_force(segments, asked, question, 0.0)
            taken = []
            for number, (each, hits) in enumerate(zip(segments, candidates.hits, strict=True)):
                rows = hits[side].row_H[hits[side].question_H == question]
                scores = each.segment.store.own_scores(vector_D[None], rows, np.array([0, len(rows)])).tolist()
                taken += [s - brute.word_cost(number, row) for s, row in zip(scores, rows.tolist(), strict=True)]
            expected = best_scores(segments, asked, question, vector_D, count)
            np.testing.assert_allclose(sorted(taken, reverse=True), expected, rtol=1e-5, atol=1e-4)


@given(indexes(), queries())
def test_segments_side_by_side_propose_the_same(index: MemoryIndex, asked: Queries) -> None:
    segments = index.searchable()
    one = Proposals.from_segments(segments, asked, 5, 0.5, asked.terms)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("densephrases.search.scoring.candidates._SIDE_BY_SIDE_ROWS", 0)
        several = Proposals.from_segments(segments, asked, 5, 0.5, asked.terms)
    assert np.array_equal(one.rows_BK, several.rows_BK)
    assert np.array_equal(one.scores_BK, several.scores_BK)


@given(npst.arrays(np.int64, (3, 7), elements=st.integers(-2, 2)), st.integers(1, 8), st.randoms())
def test_of_equal_scores_the_first_ones_are_taken(scores: Ints, count: int, random: Random) -> None:
    order = np.array([random.sample(range(7), 7) for _ in range(3)])
    marks = among_best(scores.astype(np.float32), order, count)
    for question in range(3):
        best = np.lexsort((order[question], -scores[question]))[:count]
        assert sorted(best.tolist()) == np.flatnonzero(marks[question]).tolist()
