"""Candidate rows against a list of all rows with what words cost their passages."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.arrays import Floats
from densephrases.search.scoring.candidates import OVERSAMPLE, Candidates
from densephrases.search.scoring.searchable import Part
from densephrases.search.scoring.windows import Queries
from tests.search.made_up import MemoryIndex, indexes
from tests.search.scoring.test_pairs import brute_force, queries


def best_scores(parts: list[Part], asked: Queries, question: int, vector_D: Floats, count: int) -> list[float]:
    """Of the rows that should be taken: the best of each part by their own scores, then the best of all with words."""
    found: list[float] = []
    for number, part in enumerate(parts):
        rows = part.listed_rows()
        scores = part.segment.store.own_scores(vector_D[None], rows, np.array([0, len(rows)]))
        kept = np.argsort(-scores, kind="stable")[
            : count if asked.words is None else OVERSAMPLE * min(count, part.rows)
        ]
        brute = brute_force(parts, asked, question, 0.0)
        found += [float(scores[place]) - brute.word_cost(number, int(rows[place])) for place in kept.tolist()]
    return sorted(found, reverse=True)[:count]


@given(indexes(), queries(), st.integers(1, 6))
def test_the_best_rows_are_taken(index: MemoryIndex, asked: Queries, count: int) -> None:
    parts = index.parts()
    if not parts:
        return
    nominees = Candidates.best(parts, asked, count, 1.0, asked.words)
    for side, vectors_BD in enumerate((asked.start_BD, asked.end_BD)):
        for question, vector_D in enumerate(vectors_BD):
            brute = brute_force(parts, asked, question, 0.0)
            taken = []
            for number, (part, hits) in enumerate(zip(parts, nominees.hits, strict=True)):
                rows = hits[side].row_H[hits[side].question_H == question]
                scores = part.segment.store.own_scores(vector_D[None], rows, np.array([0, len(rows)])).tolist()
                taken += [s - brute.word_cost(number, row) for s, row in zip(scores, rows.tolist(), strict=True)]
            expected = best_scores(parts, asked, question, vector_D, count)
            np.testing.assert_allclose(sorted(taken, reverse=True), expected, rtol=1e-5, atol=1e-4)
