"""The first phrases of questions in several segments, against the answers of a search."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.ranking.contenders import CONTENDERS
from densephrases.search.request import SearchRequest, Unit
from densephrases.search.scoring.lexical import TermWeights
from densephrases.search.searcher import Searcher
from densephrases.text.hashed_terms import terms
from tests.search.made_up import MemoryIndex, indexes
from tests.search.test_searcher import QuestionEncoder

QUESTIONS = ["a Ada", "b wrote code", "d"]


@given(indexes(), st.sampled_from(get_args(Unit)), st.integers(1, 30))
def test_they_are_the_first_answers(index: MemoryIndex, unit: Unit, k: int) -> None:
    searcher = Searcher.from_snapshot(index, QuestionEncoder(lexical_weight=2.0))
    contenders, question_terms = searcher.contenders(QUESTIONS, SearchRequest(k=k, unit=unit))
    answers = searcher.search(QUESTIONS, SearchRequest(k=CONTENDERS, unit=unit, overlapping=True))
    assert question_terms is not None
    idf_V = TermWeights.from_snapshot(index).idf_V
    rows = [(number, answer) for number, several in enumerate(answers) for answer in several]
    assert contenders.question_N.tolist() == [number for number, _ in rows]
    assert contenders.phrase_texts == [answer.phrase.text for _, answer in rows]
    assert contenders.score_N.tolist() == [answer.score for _, answer in rows]
    assert [titles.text for titles in contenders.titles] == [answer.document.title for _, answer in rows]
    for row, (number, answer) in enumerate(rows):
        text, (first, last) = contenders.texts[row].text, contenders.sentences_N2[row].tolist()
        assert (text, text[first:last]) == (answer.passage, answer.sentence)
        missing = terms(QUESTIONS[number]) - terms(f"{answer.document.title}\n{text}")
        assert abs(contenders.lexical_N[row] - 2 * sum(idf_V[term] for term in missing)) < 1e-4
