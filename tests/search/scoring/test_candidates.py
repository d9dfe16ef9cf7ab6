"""Candidate rows against a list of all rows with the lexical penalties of their passages."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import Floats
from densephrases.search.scoring.candidates import OVERSAMPLE, Candidates
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Queries
from tests.search.made_up import MemoryIndex, indexes
from tests.search.scoring.test_pairs import brute_force, queries


def best_scores(
    segments: list[SearchableSegment], asked: Queries, question: int, vector_D: Floats, count: int
) -> list[float]:
    """Of the rows that should be taken: the best of each segment by vectors, then the best of all with penalties."""
    found: list[float] = []
    for number, each in enumerate(segments):
        rows = each.listed_rows()
        scores = each.segment.store.own_scores(vector_D[None], rows, np.array([0, len(rows)]))
        kept = np.argsort(-scores, kind="stable")[
            : count if asked.terms is None else OVERSAMPLE * min(count, each.rows)
        ]
        brute = brute_force(segments, asked, question, 0.0)
        found += [float(scores[place]) - brute.word_cost(number, int(rows[place])) for place in kept.tolist()]
    return sorted(found, reverse=True)[:count]


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
