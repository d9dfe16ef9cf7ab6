"""Passages with the identifiers of questions, and their penalties; all terms of all passages are looked through."""

import numpy as np
import pytest

from densephrases.search.request import SearchRequest
from densephrases.search.scoring import identified
from densephrases.search.scoring.identified import IDENTIFIER_PENALTY, IdentifiedPassages
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.search.searcher import Searcher
from tests.search.made_up import MemoryIndex, SegmentMaker
from tests.search.test_searcher import QuestionEncoder

PASSAGES = [
    "the option max_wal_size is big.",
    "see max_wal_size and min_wal_size here.",
    "max wal size in words.",
    "max_wal_sizes is another.",
]


def index_of(passages: list[str], hide: bool = False) -> MemoryIndex:
    maker = SegmentMaker(np.random.default_rng(0), hide, keep=1.0)
    maker.add("d", [each.split() for each in passages], {})
    return MemoryIndex([maker.made()], [None])


def found(question: str, passages: list[str]) -> dict[int, float]:
    index = index_of(passages)
    shares = IdentifiedPassages.find([question], index.segments, TermCounts.from_snapshot(index)).shares
    if not shares:
        return {}
    passages_P, shares_P = shares[0][id(index.segments[0].terms)]
    return dict(zip(passages_P.tolist(), shares_P.tolist(), strict=True))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what is max_wal_size?", {0: 1.0, 1: 1.0}),
        ("max_wal_size or min_wal_size", {0: 0.5, 1: 1.0}),
        ('where does "wal size" stand?', {2: 1.0}),
        ("what is the size?", {}),
        ("what is no_such_thing?", {}),
    ],
)
def test_passages_with_the_words_themselves(question: str, expected: dict[int, float]) -> None:
    assert found(question, PASSAGES) == expected


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is CVE-2024-3094?", "so CVE-2024-3094 is bad."),
        ("what does --depth do?", "git clone --depth 1."),
        ("what says \u00a7 12a?", "in \u00a7 12a it is said."),
    ],
)
def test_kinds_of_identifiers(question: str, text: str) -> None:
    assert found(question, ["something else.", text, "clone 12 of CVE 2024."]) == {1: 1.0}


def test_common_ones_are_not_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identified, "MOST_PASSAGES", 1)
    assert found("what is max_wal_size?", PASSAGES) == {}


def test_a_heading_at_the_end_belongs_to_the_next_passage() -> None:
    texts = ["It is one.\n\nmax_wal_size (integer)", "The default is two."]
    maker = SegmentMaker(np.random.default_rng(0), keep=1.0)
    maker.add("d", [["one"], ["two"]], {})
    maker.add("e", [["three"]], {})
    maker.passages[:] = [*texts, "Other."]
    index = MemoryIndex([maker.made()], [None])
    shares = IdentifiedPassages.find(["what is max_wal_size?"], index.segments, TermCounts.from_snapshot(index)).shares[
        0
    ]
    assert shares[id(index.segments[0].terms)][0].tolist() == [0, 1]


def test_penalties_follow_the_questions_that_are_taken() -> None:
    index = index_of(PASSAGES)
    terms = index.segments[0].terms
    every = IdentifiedPassages.find(
        ["what?", "max_wal_size or min_wal_size"], index.segments, TermCounts.from_snapshot(index)
    )
    passages = np.arange(4)
    assert every.penalties(terms, np.zeros(4, dtype=np.int64), passages).tolist() == [0.0] * 4
    for some, number in ((every, 1), (every.take(np.array([1])), 0), (every.take(np.array([0, 1])), 1)):
        penalties = some.penalties(terms, np.full(4, number), passages).tolist()
        assert penalties == [IDENTIFIER_PENALTY * share for share in (0.5, 0.0, 1.0, 1.0)]


def test_their_phrases_are_found_whatever_their_vectors() -> None:
    """Most rows are hidden from the candidate search, as approximate search may miss them."""
    texts = [f"filler number {place} is of no use." for place in range(300)]
    texts[200] = "the value of max_wal_size is special."
    index = index_of(texts, hide=True)
    searcher = Searcher.from_snapshot(index, QuestionEncoder(lexical_weight=1.0))
    (answers,) = searcher.search(["what is max_wal_size?"], SearchRequest(effort=0.0))
    assert "special" in answers[0].passage
