"""The pair search against all spans of small collections; whole numbers keep every sum exact."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.answers import Boundaries, Distinct
from densephrases.search.passages import PassageTexts
from densephrases.search.request import Unit
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.pairs import PairSearch, Phrases
from densephrases.search.scoring.searchable import Part
from densephrases.search.scoring.windows import Queries
from densephrases.text.hashed_terms import terms
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
KNOWN_TERMS = sorted(terms(" ".join([*WORDS, "title", "unheard of"])))
COSTS = st.dictionaries(st.sampled_from(KNOWN_TERMS), st.integers(0, 20).map(float), max_size=4)
BOUNDARIES = st.sampled_from(get_args(Boundaries))
REPEATED = 0.25


@pytest.fixture(autouse=True, scope="module")
def share_without_rounding() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("densephrases.search.scoring.lexical.REPEATED", REPEATED)
        yield


@st.composite
def queries(draw: st.DrawFn) -> Queries:
    count = draw(st.integers(1, 3))
    start, end = (draw(st.lists(VECTORS, min_size=count, max_size=count)) for _ in range(2))
    words = draw(st.none() | st.lists(COSTS, min_size=count, max_size=count).map(question_words))
    return Queries(np.array(start, dtype=np.float32), np.array(end, dtype=np.float32), words)


def question_words(given: list[dict[int, float]]) -> QuestionTerms:
    penalties = [dict(sorted(each.items())) for each in given]
    return QuestionTerms(
        np.cumsum([0, *map(len, penalties)]),
        np.array([term for each in penalties for term in each], dtype=np.uint16),
        np.array([cost for each in penalties for cost in each.values()], dtype=np.float32),
    )


def brute_force(
    parts: list[Part], asked: Queries, question: int, length_penalty: float, unit: Unit = "phrase"
) -> BruteForce:
    penalties = {}
    if asked.words is not None:
        own = slice(*asked.words.edges_B[question : question + 2])
        penalties = dict(zip(asked.words.term_W[own].tolist(), asked.words.penalty_W[own].tolist(), strict=True))
    start_D, end_D = asked.start_BD[question], asked.end_BD[question]
    return BruteForce(parts, start_D, end_D, length_penalty, penalties, REPEATED if unit == "phrase" else 0.0)


def pair_search(
    parts: list[Part],
    unit: Unit = "phrase",
    k: int = 3,
    boundaries: Boundaries = "both",
    exact: bool = True,
    length_penalty: float = 0.0,
) -> PairSearch:
    choose = Distinct(PassageTexts(parts), unit, k, boundaries)
    return PairSearch(parts, k, choose, exact=exact, effort=0.5, length_penalty=length_penalty, fewest=1)


def spans(phrases: Phrases) -> list[BruteSpan]:
    columns = (phrases.score_N, phrases.part_N, phrases.start_N, phrases.end_N)
    return [BruteSpan(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


@given(indexes(), queries(), UNITS, st.integers(1, 12), BOUNDARIES, PENALTIES)
def test_like_brute_force(
    index: MemoryIndex, asked: Queries, unit: Unit, k: int, boundaries: Boundaries, length_penalty: float
) -> None:
    parts = index.parts()
    found = pair_search(parts, unit, k, boundaries, length_penalty=length_penalty)(asked)
    for question, phrases in enumerate(found):
        brute = brute_force(parts, asked, question, length_penalty, unit)
        assert spans(phrases) == brute.distinct(unit, k, boundaries)


@given(indexes(hide=True), queries(), UNITS, st.integers(1, 12))
def test_exact_without_exact_candidates(index: MemoryIndex, asked: Queries, unit: Unit, k: int) -> None:
    parts = index.parts()
    for question, phrases in enumerate(pair_search(parts, unit, k)(asked)):
        brute = brute_force(parts, asked, question, 0.0, unit)
        assert spans(phrases) == brute.distinct(unit, k, "both")


@given(indexes(hide=True), queries(), UNITS, st.integers(1, 12), PENALTIES)
def test_as_many_as_there_are_whatever_the_candidates_hide(
    index: MemoryIndex, asked: Queries, unit: Unit, k: int, length_penalty: float
) -> None:
    parts = index.parts()
    found = pair_search(parts, unit, k, exact=False, length_penalty=length_penalty)(asked)
    for question, phrases in enumerate(found):
        brute = brute_force(parts, asked, question, length_penalty, unit)
        assert len(phrases) >= len(brute.distinct(unit, k, "both"))
        everything = set(brute.ranked())
        kept = spans(phrases)
        assert everything.issuperset(kept)
        assert len({brute.key(span, unit) for span in kept}) == len(kept)
        assert kept == sorted(kept, key=lambda span: span.order)


@given(indexes(), queries(), UNITS)
def test_batch_like_one_by_one(index: MemoryIndex, asked: Queries, unit: Unit) -> None:
    search = pair_search(index.parts(), unit)
    together = [spans(phrases) for phrases in search(asked)]
    alone = [spans(search(asked.take(np.array([question])))[0]) for question in range(len(asked))]
    assert together == alone


def test_length_lowers_the_score() -> None:
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("d", [["one", "two", "three"]] * 30, {})
    parts = MemoryIndex([maker.made()], [None]).parts()
    asked = Queries(np.zeros((1, SIZE), np.float32), np.zeros((1, SIZE), np.float32))
    (phrases,) = pair_search(parts, k=1, length_penalty=0.5)(asked)
    assert phrases.score_N.tolist() == [-1.5]


def rounds_of_search(hidden: bool) -> tuple[list[int], int]:
    """How many phrases each round looked at for one result, and how many there are."""
    maker = SegmentMaker(np.random.default_rng(0))
    maker.add("d", [["one", "two", "three", "four", "five"]] * 40, {})
    made = maker.made()
    nothing = MemoryCandidates(made.store.vectors_RD, np.ones(made.rows, dtype=bool))
    parts = MemoryIndex([replace(made, candidates=nothing) if hidden else made], [None]).parts()
    rounds: list[int] = []

    def choose(several: Sequence[Phrases], words: QuestionTerms | None) -> list[Phrases]:
        rounds.append(sum(map(len, several)))
        return Distinct(PassageTexts(parts), "phrase", 1)(several, words)

    asked = Queries(np.ones((1, SIZE), np.float32), np.ones((1, SIZE), np.float32))
    PairSearch(parts, 1, choose, exact=False, effort=0.5, length_penalty=0.0, fewest=4)(asked)
    return rounds, sum(made.max_span_R.tolist()) + made.rows


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
