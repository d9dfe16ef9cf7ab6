"""All phrases around candidate rows, each once, against trying all pairs."""

from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.scoring.windows import Hits, Queries, ScoredPhrases, score_phrases
from tests.search.made_up import SIZE, BruteForce, MemoryIndex, indexes


def hits(data: st.DataObject, questions: int, rows: list[int]) -> Hits:
    chosen = sorted(data.draw(st.sets(st.tuples(st.integers(0, questions - 1), st.sampled_from(rows)), max_size=12)))
    question_H, row_H = np.array(chosen, dtype=np.int64).reshape(-1, 2).T
    return Hits(question_H, row_H)


@given(indexes(), st.integers(1, 3), st.data())
def test_every_phrase_around_a_candidate_once(index: MemoryIndex, questions: int, data: st.DataObject) -> None:
    for number, each in enumerate(segments := index.searchable()):
        starts, ends = (hits(data, questions, each.listed_rows().tolist()) for _ in range(2))
        random = np.random.default_rng(questions)
        start_BD, end_BD = (random.integers(-3, 4, (questions, SIZE)).astype(np.float32) for _ in range(2))
        (scored,) = score_phrases(each, Queries(start_BD, end_BD), starts, ends, 0.5)
        found = sorted(rows_of(scored))
        first, last = (set(zip(h.question_H.tolist(), h.row_H.tolist(), strict=True)) for h in (starts, ends))
        assert found == sorted(
            (question, span.start, span.end, span.score)
            for question in range(questions)
            for span in BruteForce(segments, start_BD[question], end_BD[question], 0.5).ranked()
            if span.segment == number and ((question, span.start) in first or (question, span.end) in last)
        )


@given(indexes(), st.integers(1, 3), st.data())
def test_many_starts_are_scored_in_parts(index: MemoryIndex, questions: int, data: st.DataObject) -> None:
    query = np.ones((questions, SIZE), dtype=np.float32)
    for each in index.searchable():
        starts, ends = (hits(data, questions, each.listed_rows().tolist()) for _ in range(2))
        (whole,) = score_phrases(each, Queries(query, query), starts, ends, 0.5)
        check = Mock()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("densephrases.search.scoring.windows._STARTS_AT_ONCE", 2)
            parts = list(score_phrases(each, Queries(query, query), starts, ends, 0.5, check))
        assert len(parts) == (1 if len(starts) <= 2 else -(-len(starts) // 2) + 1)
        assert check.call_count >= len(parts)
        assert sorted(row for part in parts for row in rows_of(part)) == sorted(rows_of(whole))
        for name in ("weakest_start_B", "weakest_end_B"):
            assert np.minimum.reduce([getattr(p, name) for p in parts]).tolist() == getattr(whole, name).tolist()


def rows_of(scored: ScoredPhrases) -> list[tuple[int, int, int, float]]:
    columns = (scored.question_N, scored.start_N, scored.end_N, scored.score_N)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(indexes())
def test_weakest_candidates(index: MemoryIndex) -> None:
    query = np.ones((2, SIZE), dtype=np.float32)
    for each in index.searchable():
        rows = each.listed_rows()[:3]
        starts = Hits(np.zeros(len(rows), dtype=np.int64), rows)
        (scored,) = score_phrases(each, Queries(query, query), starts, Hits.none(), 0.0)
        lowest = float(each.segment.store.own_scores(query[:1], rows, np.array([0, len(rows)])).min())
        assert scored.weakest_start_B.tolist() == [lowest, np.inf]
        assert scored.weakest_end_B.tolist() == [np.inf, np.inf]
