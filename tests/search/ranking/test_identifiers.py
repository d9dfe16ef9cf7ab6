"""Which phrases stand near the identifiers of their question."""

import numpy as np
import pytest

from densephrases.search.passages import SegmentTexts
from densephrases.search.ranking.contenders import Contenders
from densephrases.search.ranking.identifiers import (
    IDENTIFIER_WEIGHT,
    IN_HEADING,
    IN_PASSAGE,
    IN_SENTENCE,
    identifier_shares,
    ranked_by_identifiers,
)
from densephrases.search.scoring.pairs import Phrases
from densephrases.text.searched_text import SearchedText
from tests.search.made_up import MemoryIndex, SegmentMaker


def contenders_of(text: str, phrases: list[str], title: str = "") -> Contenders:
    """Of one question; each phrase occurs once."""
    spans = [(text.index(each), text.index(each) + len(each)) for each in phrases]
    zeros = np.zeros(len(phrases), dtype=np.float32)
    rows = np.zeros(len(phrases), dtype=np.int64)
    edges = np.array([0, len(phrases)])
    texts, titles = ([SearchedText(each)] * len(phrases) for each in (text, title))
    return Contenders(edges, zeros, zeros, rows, np.array(spans), texts, titles)


SETTINGS = """wal_size (integer)

The default is one. It is said of min_wal_size too.

max_wal_size (integer)

Maximum size. The default is two.

min_wal_size (integer)"""


def test_what_stands_under_the_heading_counts_most() -> None:
    found = contenders_of(SETTINGS, ["one", "said", "two", "Maximum size", "max_wal_size (integer)"])
    shares = identifier_shares(found, ["default of max_wal_size"])
    assert shares.tolist() == [IN_PASSAGE, IN_PASSAGE, 1.0, 1.0, IN_HEADING]
    shares = identifier_shares(found, ["default of min_wal_size"])
    assert shares.tolist() == [IN_PASSAGE, IN_SENTENCE, IN_PASSAGE, IN_PASSAGE, 0.0], "a heading is under no other"


def test_a_term_is_the_heading_of_its_definition() -> None:
    found = contenders_of("max_wal_size (integer): The default is two.", ["integer", "two"])
    assert identifier_shares(found, ["default of max_wal_size"]).tolist() == [IN_HEADING, 1.0]


def test_the_heading_may_end_the_passage_before() -> None:
    found = contenders_of("The default is two.", ["two"])
    assert identifier_shares(found, ["max_wal_size"], lambda _: "It is.\n\nmax_wal_size (integer)").tolist() == [1.0]
    assert identifier_shares(found, ["max_wal_size"], lambda _: "max_wal_size (integer)\n\nOther (x)").tolist() == [0.0]


@pytest.mark.parametrize(
    ("question", "text", "right", "wrong"),
    [
        ("what is max_wal_size?", "There max_wal_size is 2 GB. Here max_wal_sizes is 3 GB.", "2 GB", "3 GB"),
        ("what does --depth mean?", "With --depth-first it sorts. With --depth it cuts.", "cuts", "sorts"),
        ("what is CVE-2024-3094 in?", "CVE-2024-30945 is in zlib. CVE-2024-3094 is in xz.", "xz", "zlib"),
        ("what does \u00a7 12a forbid?", "\u00a7 12 forbids noise. \u00a7 12a forbids smoke.", "smoke", "noise"),
        ('what means "disk full"?', "The disk is full at noon. The error disk  full means no room.", "no room", "noon"),
    ],
)
def test_only_whole_identifiers_in_the_own_sentence_count(question: str, text: str, right: str, wrong: str) -> None:
    assert identifier_shares(contenders_of(text, [right, wrong]), [question]).tolist() == [IN_SENTENCE, IN_PASSAGE]


def test_titles_count_like_sentences() -> None:
    found = contenders_of("It is in xz.", ["xz"], "CVE-2024-3094")
    assert identifier_shares(found, ["where is CVE-2024-3094?"]).tolist() == [IN_SENTENCE]


def test_questions_without_identifiers_change_nothing() -> None:
    assert identifier_shares(contenders_of("Who is it?", ["it"]), ["who is it"]).tolist() == [0.0]


def test_the_others_pay() -> None:
    maker = SegmentMaker(np.random.default_rng(0), keep=1.0)
    maker.add("d", [["min_x", "is", "one."], ["max_x", "is", "two."]], {})
    texts = SegmentTexts(MemoryIndex([maker.made()], [None]).searchable())
    rows = np.array([2, 5])
    found = Phrases(np.zeros(2, dtype=np.int64), rows, rows, np.array([9.0, 8.0], dtype=np.float32))
    unchanged, ranked = ranked_by_identifiers(["what is x?", "what is max_x?"], [found, found], texts)
    assert unchanged is found
    assert ranked.start_N.tolist() == [5, 2]
    assert ranked.score_N.tolist() == [8 - (1 - IN_SENTENCE) * IDENTIFIER_WEIGHT, 9 - IDENTIFIER_WEIGHT]
