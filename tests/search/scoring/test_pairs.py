"""The pair search against all spans of small collections; whole numbers keep every sum exact."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.passages import SegmentTexts
from densephrases.search.request import Unit
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import PairSearch, Phrases, Selection
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Queries
from densephrases.search.selection.distinct_results import DistinctResults
from densephrases.text.hashed_terms import prefixes
from tests.search.made_up import (
    SIZE,
    WORDS,
    BruteForce,
    BruteSpan,
    MemoryCandidates,
    MemoryIndex,
    SegmentMaker,
    indexes,
)

PENALTIES = st.sampled_from([0.0, 0.25, 1.0])
VECTORS = st.lists(st.integers(-3, 3), min_size=SIZE, max_size=SIZE)
UNITS = st.sampled_from(get_args(Unit))
KNOWN_TERMS = prefixes(" ".join([*WORDS, "title", "unheard of"]))
COSTS = st.dictionaries(st.sampled_from(sorted(KNOWN_TERMS)), st.integers(0, 20).map(float), max_size=4)
REPETITION_SHARE = 0.25


@pytest.fixture(autouse=True, scope="module")
def share_without_rounding() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("densephrases.search.scoring.lexical.REPETITION_SHARE", REPETITION_SHARE)
        yield


@st.composite
def queries(draw: st.DrawFn) -> Queries:
    count = draw(st.integers(1, 3))
    start, end = (draw(st.lists(VECTORS, min_size=count, max_size=count)) for _ in range(2))
    asked = draw(st.none() | st.lists(COSTS, min_size=count, max_size=count).map(question_terms))
    return Queries(np.array(start, dtype=np.float32), np.array(end, dtype=np.float32), asked)


def question_terms(given: list[dict[int, float]]) -> QuestionTerms:
    penalties = [dict(sorted(each.items())) for each in given]
    return QuestionTerms(
        np.cumsum([0, *map(len, penalties)]),
        np.array([term for each in penalties for term in each], dtype=np.uint16),
        np.array([cost for each in penalties for cost in each.values()], dtype=np.float32),
        [KNOWN_TERMS[term] for each in penalties for term in each],
    )


def brute_force(
    segments: list[SearchableSegment], asked: Queries, question: int, length_penalty: float, unit: Unit = "phrase"
) -> BruteForce:
    penalties = {}
    if asked.terms is not None:
        own = slice(*asked.terms.edges_B[question : question + 2])
        penalties = dict(zip(asked.terms.term_W[own].tolist(), asked.terms.penalty_W[own].tolist(), strict=True))
    start_D, end_D = asked.start_BD[question], asked.end_BD[question]
    return BruteForce(
        segments, start_D, end_D, length_penalty, penalties, REPETITION_SHARE if unit == "phrase" else 0.0
    )


def pair_search(
    segments: list[SearchableSegment],
    unit: Unit = "phrase",
    k: int = 3,
    exact: bool = True,
    length_penalty: float = 0.0,
) -> PairSearch:
    select = DistinctResults(SegmentTexts(segments), unit, k)
    return PairSearch(segments, k, select, exact=exact, effort=0.5, length_penalty=length_penalty, fewest=1)


def spans(phrases: Phrases) -> list[BruteSpan]:
    columns = (phrases.score_N, phrases.segment_N, phrases.start_N, phrases.end_N)
    return [BruteSpan(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


@given(indexes(), queries(), UNITS, st.integers(1, 12), PENALTIES)
def test_like_brute_force(index: MemoryIndex, asked: Queries, unit: Unit, k: int, length_penalty: float) -> None:
    segments = index.searchable()
    found = pair_search(segments, unit, k, length_penalty=length_penalty)(asked)
    for question, phrases in enumerate(found):
        brute = brute_force(segments, asked, question, length_penalty, unit)
        assert spans(phrases) == brute.distinct(unit, k)


@given(indexes(hide=True), queries(), UNITS, st.integers(1, 12))
def test_exact_without_exact_candidates(index: MemoryIndex, asked: Queries, unit: Unit, k: int) -> None:
    segments = index.searchable()
    for question, phrases in enumerate(pair_search(segments, unit, k)(asked)):
        brute = brute_force(segments, asked, question, 0.0, unit)
        assert spans(phrases) == brute.distinct(unit, k)


@given(indexes(hide=True), queries(), UNITS, st.integers(1, 12), PENALTIES)
def test_as_many_as_there_are_whatever_the_candidates_hide(
    index: MemoryIndex, asked: Queries, unit: Unit, k: int, length_penalty: float
) -> None:
    segments = index.searchable()
    found = pair_search(segments, unit, k, exact=False, length_penalty=length_penalty)(asked)
    for question, phrases in enumerate(found):
        brute = brute_force(segments, asked, question, length_penalty, unit)
        assert len(phrases) >= len(brute.distinct(unit, k))
        everything = set(brute.ranked())
        kept = spans(phrases)
        assert everything.issuperset(kept)
        assert len({brute.key(span, unit) for span in kept}) == len(kept)
        assert kept == sorted(kept, key=lambda span: span.order)


@given(indexes() | indexes(hide=True), queries(), UNITS, st.booleans())
def test_batch_like_one_by_one(index: MemoryIndex, asked: Queries, unit: Unit, exact: bool) -> None:
    """A question that finds too few candidates widens its own search only."""
    search = pair_search(index.searchable(), unit, exact=exact)
    together = [spans(phrases) for phrases in search(asked)]
    alone = [spans(search(asked.take(np.array([question])))[0]) for question in range(len(asked))]
    assert together == alone


def test_length_lowers_the_score() -> None:
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("d", [["one", "two", "three"]] * 30, {})
    segments = MemoryIndex([maker.made()], [None]).searchable()
    asked = Queries(np.zeros((1, SIZE), np.float32), np.zeros((1, SIZE), np.float32))
    (phrases,) = pair_search(segments, k=1, length_penalty=0.5)(asked)
    assert phrases.score_N.tolist() == [-1.5]


def rounds_of_search(hidden: bool) -> tuple[list[int], int]:
    """How many phrases each round looked at for one result, and how many there are."""
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("d", [["one", "two", "three", "four", "five"]] * 40, {})
    made = maker.made()
    nothing = MemoryCandidates(made.store.vectors_RD, np.ones(made.vectors, dtype=bool))
    segments = MemoryIndex([replace(made, candidates=nothing) if hidden else made], [None]).searchable()
    rounds: list[int] = []

    def select(several: Sequence[Phrases], terms: QuestionTerms | None) -> list[Selection]:
        rounds.append(sum(map(len, several)))
        return DistinctResults(SegmentTexts(segments), "phrase", 1)(several, terms)

    asked = Queries(np.ones((1, SIZE), np.float32), np.ones((1, SIZE), np.float32))
    PairSearch(segments, 1, select, exact=False, effort=0.5, length_penalty=0.0, fewest=4)(asked)
    return rounds, sum(made.max_span_R.tolist()) + made.vectors


def test_no_deeper_than_needed() -> None:
    (only,), everything = rounds_of_search(hidden=False)
    assert 0 < only < everything / 2


def test_full_effort_where_the_candidates_list_too_few() -> None:
    (first, second), everything = rounds_of_search(hidden=True)
    assert first == 0 < second < everything / 2


@pytest.mark.parametrize("unit", get_args(Unit))
def test_nothing_to_search(unit: Unit) -> None:
    asked = Queries(np.ones((2, SIZE), np.float32), np.ones((2, SIZE), np.float32))
    assert [len(phrases) for phrases in pair_search([], unit)(asked)] == [0, 0]
