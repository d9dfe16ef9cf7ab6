"""What of a question the surroundings of an answer lack."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.confidence import Calibration
from densephrases.search.explain.evidence import AskedTerms, Evidence, Surroundings, names_and_numbers
from densephrases.search.filtering.filters import Filter
from densephrases.search.request import SearchRequest
from densephrases.search.scoring.lexical import TermWeights
from densephrases.search.scoring.searchable import known_terms, searchable_segments
from densephrases.search.searcher import Searcher
from densephrases.text.hashed_terms import TERMS, terms
from densephrases.text.searched_text import SearchedText
from densephrases.text.sentences import TextSpan
from tests.search.made_up import MemoryIndex, indexes
from tests.search.test_searcher import QUESTIONS, QuestionEncoder

KNOWN = np.ones(TERMS, dtype=bool)
IDF = np.random.default_rng(0).random(TERMS).astype(np.float32) + 0.5


def around(passage: str, *, sentence: str, title: str) -> Surroundings:
    start = passage.index(sentence)
    return Surroundings(SearchedText(passage), TextSpan(start, start + len(sentence)), SearchedText(title))


def share(question: str, text: str) -> float:
    wanted = terms(question)
    return float(sum(IDF[term] for term in wanted - terms(text)) / sum(IDF[term] for term in wanted))


def test_values_are_those_of_all_fields() -> None:
    assert Evidence(0.1, 0.2, 0.3, 0.4).values() == (0.1, 0.2, 0.3, 0.4)
    assert len(Evidence().values()) == len(fields(Evidence))


def test_shares_by_sets_of_terms() -> None:
    question = "When did Ada Lovelace publish the Analytical Notes in 1843?"
    passage = "Ada published notes. She was a friend of Babbage. In 1843 they appeared."
    answer = around(passage, sentence="In 1843 they appeared.", title="Lovelace")
    found = AskedTerms(question, IDF, KNOWN).evidence(answer)
    assert found.missing == pytest.approx(share(question, f"{passage} Lovelace"))
    assert found.unstated == pytest.approx(share(question, "In 1843 they appeared. Lovelace"))
    assert found.names == pytest.approx(share("Ada Lovelace Analytical Notes 1843", f"{passage} Lovelace"))


@pytest.mark.parametrize(("identifier", "missing"), [("max_wal_size", 0.0), ("max_size", 1.0), ("wal_size", 1.0)])
def test_identifiers_are_compared_as_a_whole(identifier: str, missing: float) -> None:
    answer = around("wal: max_wal_size is the most size", sentence="", title="")
    assert AskedTerms(f"what is the default of {identifier}", IDF, KNOWN).evidence(answer).names == missing


def test_a_question_without_terms_lacks_nothing() -> None:
    answer = around("Ada wrote it.", sentence="Ada wrote it.", title="")
    assert AskedTerms("who is it?", IDF, KNOWN).evidence(answer) == Evidence()


def test_terms_that_no_passage_has_are_unknown() -> None:
    """Whatever the passage has."""
    question = "Who invented the telephone in Boston?"
    known_V = np.zeros(TERMS, dtype=bool)
    known_V[sorted(terms("invented Boston"))] = True
    answer = around("Nobody invented a telephone in Boston.", sentence="", title="")
    found = AskedTerms(question, IDF, known_V).evidence(answer)
    assert found.unknown == pytest.approx(share(question, "invented Boston"))
    assert found.missing == 0
    assert AskedTerms(question, IDF, KNOWN).evidence(answer).unknown == 0
    assert AskedTerms(question, IDF, ~KNOWN).evidence(answer).unknown == 1


def test_an_inflection_of_a_word_makes_it_known() -> None:
    known_V = np.zeros(TERMS, dtype=bool)
    known_V[sorted(terms("the lease ends"))] = True
    answer = around("The lease ends in March.", sentence="", title="")
    assert AskedTerms("When does the lease end?", IDF, known_V).evidence(answer).unknown == 0
    assert AskedTerms("When does the lease begin?", IDF, known_V).evidence(answer).unknown > 0


@given(indexes(), st.lists(QUESTIONS, min_size=1, max_size=3), st.sampled_from([None, ["0-0"], ["0-0", "1-0", "1-1"]]))
def test_unknown_terms_follow_the_filter(index: MemoryIndex, questions: list[str], documents: list[str] | None) -> None:
    """Alone and in a batch."""
    idf_V = TermWeights.from_snapshot(index).idf_V
    wanted = Filter.from_conditions(None, documents)
    known = np.flatnonzero(known_terms(searchable_segments(index, wanted)))
    searcher = Searcher.from_snapshot(index, QuestionEncoder(), Calibration(0.0, 0.0, 0.0, 0.0, unknown=2.0))
    request = SearchRequest(k=2, documents=documents, explain=True)
    found = searcher.search(questions, request)
    assert found == [searcher.search([question], request)[0] for question in questions]
    for question, answers in zip(questions, found, strict=True):
        asked = terms(question)
        lost = sum(idf_V[term] for term in asked.difference(known)) / (sum(idf_V[term] for term in asked) or 1)
        for answer in answers:
            assert answer.explanation is not None
            assert answer.explanation.evidence.unknown == pytest.approx(lost)
            assert answer.confidence == pytest.approx(1 / (1 + np.exp(2 * lost)))


def test_matched_and_missing_words() -> None:
    answer = around("The capital of Iceland is Reykjavik.", sentence="", title="Iceland")
    matched, missing = AskedTerms("What is the capital of France?", IDF, KNOWN).matched_words(answer)
    assert (list(matched), list(missing)) == (["capital"], ["France"])


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who was the first president of the United States?", ["United", "States"]),
        ("When was Python 4 released?", ["Python", "4"]),
        ("Einstein was born where", ["Einstein"]),
        ("what is the capital of france", []),
    ],
)
def test_names_and_numbers(question: str, names: list[str]) -> None:
    assert names_and_numbers(question) == names
