"""Questions asked of a whole collection, judged by hand and against judging each answer alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1
from densephrases.data.questions import OpenQuestion
from densephrases.evaluate.open_domain import OpenScores, _judge, ask_collection
from densephrases.evaluate.retrieval import Ranking
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest

from .made_up import answer, cities

EIFFEL = OpenQuestion("1", "who?", ("Gustave Eiffel", "Eiffel"))
QUESTIONS = [
    EIFFEL,
    OpenQuestion("2", "where is the river?", ("the city",)),
    OpenQuestion("3", "when was it?", ("1889",)),
    OpenQuestion("4", "where is rome?", ("Rome",)),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    return cities(tmp_path_factory.mktemp("indexes") / "cities")


def test_a_question_judged_by_hand() -> None:
    found = [
        answer("France", "paris", "Paris is in France."),
        answer("Paris", "paris", "Paris is in France."),
        answer("tower", "tower", "The tower was built by Eiffel.", start=7),
        answer("Eiffel", "tower", "The tower was built by Eiffel.", start=7),
        answer("Eiffel", "tower", "Eiffel was born.", start=99),
    ]
    judged = _judge(EIFFEL, found, True, 20, {})
    assert judged.rank == 4
    assert judged.f1 == 0
    assert judged.passages == Ranking((0, 1, 1))
    assert judged.documents == Ranking((0, 1))


def test_known_documents_are_judged_by_their_ids() -> None:
    question = replace(EIFFEL, documents={"paris": 2, "rome": 1})
    found = [answer("Eiffel", "tower"), answer("France", "paris")]
    assert _judge(question, found, True, 20, {}).documents == Ranking((0, 2), (1,))


def test_no_answers_at_all() -> None:
    judged = _judge(EIFFEL, [], False, 20, {})
    assert (judged.rank, judged.f1, judged.passages, judged.documents) == (None, 0.0, Ranking(()), Ranking(()))


def test_like_judging_each_answer_alone(index: PhraseIndex) -> None:
    request = SearchRequest(k=20)
    predictions = list(ask_collection(index, QUESTIONS, request))
    assert [p.judgement.question for p in predictions] == QUESTIONS
    assert [p.judgement.answerable for p in predictions] == [True, True, True, False]
    for prediction, expected in zip(
        predictions, index.search([q.text for q in QUESTIONS], k=20, overlapping=True), strict=True
    ):
        assert prediction.answers == expected
        gold_texts = prediction.judgement.question.answers
        right = [bool(best_over_answers(exact_match, each.text, gold_texts)) for each in expected]
        assert prediction.judgement.rank == (right.index(True) + 1 if any(right) else None)
        assert prediction.judgement.f1 == best_over_answers(f1, expected[0].text, gold_texts)
    scores = OpenScores.from_judgements([p.judgement for p in predictions], request.k)
    assert (scores.questions, scores.answerable, scores.ceiling) == (4, 3, 75.0)
    for k, value in scores.exact_match_at.items():
        ranks = [p.judgement.rank for p in predictions]
        assert value == 100 * sum(rank is not None and rank <= int(k) for rank in ranks) / 4
    assert scores.exact_match == scores.exact_match_at["1"]
    assert scores.exact_match_at.keys() == {"1", "5", "10", "20"}
    assert scores.exact_match_at["20"] <= scores.ceiling


def test_found_answers_are_answerable(index: PhraseIndex) -> None:
    """Whatever the index says is in its text, so that no exact match can exceed the ceiling."""
    texts = {a.text for a in index.search("where is the river?", k=1000, overlapping=True)}
    questions = [OpenQuestion(text, "who?", (text,)) for text in texts]
    assert all(p.judgement.answerable for p in ask_collection(index, questions, SearchRequest(k=1)))


def test_larger_units_are_judged_by_their_best_phrase(index: PhraseIndex) -> None:
    request = SearchRequest(k=2, unit="document")
    predictions = list(ask_collection(index, QUESTIONS[:1], request))
    assert [a.unit for a in predictions[0].answers] == ["document", "document"]
    assert OpenScores.from_judgements([p.judgement for p in predictions], request.k).exact_match_at.keys() == {"1"}


def test_only_candidates_count(index: PhraseIndex) -> None:
    candidates = frozenset({"eiffel", "city"})
    predictions = list(ask_collection(index, QUESTIONS, SearchRequest(k=1000), candidates))
    assert all({a.text.lower() for a in p.answers} <= {"eiffel", "eiffel.", "city", "a city"} for p in predictions)
    assert predictions[0].judgement.rank is not None
    assert [p.judgement.answerable for p in predictions] == [True, True, False, False]


def test_documents_alone(index: PhraseIndex) -> None:
    questions = [
        OpenQuestion("1", "who?", (), documents={"tower": 1}),
        OpenQuestion("2", "who?", (), documents={"x": 1}),
    ]
    request = SearchRequest(k=10, unit="document")
    scores = OpenScores.from_judgements([p.judgement for p in ask_collection(index, questions, request)], request.k)
    assert (scores.exact_match, scores.f1, scores.passages, scores.exact_match_at) == (None, None, None, {})
    assert scores.documents.recall_at == {"1": scores.documents.hits_at["1"], "5": 50.0, "10": 50.0}


def test_whoever_waits_is_told(index: PhraseIndex) -> None:
    read: list[int] = []
    asked: list[int] = []
    list(ask_collection(index, QUESTIONS, SearchRequest(k=1), None, read.append, asked.append))
    assert (sum(read), sum(asked)) == (index.info().passages, 4)


def test_an_empty_index(tmp_path: Path) -> None:
    index = cities(tmp_path / "index")
    index.delete(["tower", "london", "paris"])
    request = SearchRequest(k=5)
    scores = OpenScores.from_judgements([p.judgement for p in ask_collection(index, QUESTIONS, request)], request.k)
    assert (scores.answerable, scores.exact_match, scores.exact_match_of_answerable) == (0, 0.0, None)
