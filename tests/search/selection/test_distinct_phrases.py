"""The distinct phrases of heads of ranked lists, against penalties of all phrases and the rules one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.passages import LocatedPhrases, SegmentTexts
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import Phrases
from densephrases.search.selection.distinct_phrases import DistinctPhrases
from densephrases.search.selection.overlaps import Places
from densephrases.text.hashed_terms import prefixes
from densephrases.text.normalize import normalize_answer
from densephrases.text.words import is_phrase
from tests.search.made_up import WORDS, MemoryIndex, indexes

KNOWN_TERMS = prefixes(" ".join(WORDS))

Found = tuple[float, int, int, int]
"""Negative score, segment, first and last row."""


@st.composite
def ranked_lists(draw: st.DrawFn, index: MemoryIndex) -> Phrases:
    """All phrases of an index with few different scores, best first."""
    rows = [
        (number, start, end)
        for number, each in enumerate(index.searchable())
        for start in each.listed_rows().tolist()
        for end in range(start, start + int(each.segment.max_span(np.array([start]))[0]) + 1)
    ]
    scores = draw(st.lists(st.integers(-3, 3), min_size=len(rows), max_size=len(rows)))
    segment_N, start_N, end_N = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    phrases = Phrases(segment_N, start_N, end_N, np.array(scores, dtype=np.float32))
    return phrases.take(phrases.order())


@st.composite
def terms_of_a_question(draw: st.DrawFn) -> QuestionTerms:
    penalties = draw(st.dictionaries(st.sampled_from(sorted(KNOWN_TERMS)), st.integers(0, 20), max_size=4))
    chosen = sorted(penalties)
    return QuestionTerms(
        np.array([0, len(chosen)]),
        np.array(chosen, dtype=np.uint16),
        np.array([penalties[each] for each in chosen], dtype=np.float32),
        [KNOWN_TERMS[each] for each in chosen],
    )


def one_by_one(
    located: LocatedPhrases, texts: SegmentTexts, terms: QuestionTerms | None, wanted: int, apart: int
) -> list[Found]:
    phrases = located.phrases
    scores_N = phrases.score_N
    if terms is not None:
        scores_N = scores_N - terms.repetition_penalties(
            np.zeros(len(phrases), dtype=np.int64), texts.spans_in_text(located)
        )
    columns = (-scores_N, phrases.segment_N, phrases.start_N, phrases.end_N, located.passage_N, *located.spans_N2.T)
    chosen: list[Found] = []
    keys: set[tuple[int, str]] = set()
    bests: list[tuple[int, int, int]] = []
    places = Places()
    for score, segment, first, last, passage, start, end in sorted(zip(*(c.tolist() for c in columns), strict=True)):
        if len(chosen) >= wanted and len(places) >= apart:
            break
        text = texts.passage(passage).text
        key = passage, normalize_answer(text[start:end])
        overlaps = any(p == passage and start < e and s < end for p, s, e in bests)
        if not is_phrase(text, start, end) or key in keys or (overlaps and len(chosen) >= wanted):
            continue
        keys.add(key)
        places.add(passage, start, end)
        chosen.append((score, segment, first, last))
        if not overlaps:
            bests.append((passage, start, end))
    return chosen


@given(indexes(), st.none() | terms_of_a_question(), st.integers(1, 6), st.integers(0, 6), st.floats(0, 1), st.data())
def test_like_one_by_one(
    index: MemoryIndex, terms: QuestionTerms | None, wanted: int, apart: int, share: float, data: st.DataObject
) -> None:
    phrases = data.draw(ranked_lists(index))
    texts = SegmentTexts(index.searchable())
    expected = one_by_one(texts.locate(phrases), texts, terms, wanted, apart)
    select = DistinctPhrases(texts, wanted, apart, terms)
    assert _rows(select(0, texts.locate(phrases), whole=True).results) == expected
    head = phrases.best(max(round(share * len(phrases)), 1))
    found = _rows(select(0, texts.locate(head), whole=False).results)
    assert found == expected[: len(found)], "what follows the head changes nothing"


def _rows(phrases: Phrases) -> list[Found]:
    columns = (-phrases.score_N, phrases.segment_N, phrases.start_N, phrases.end_N)
    return list(zip(*(column.tolist() for column in columns), strict=True))
