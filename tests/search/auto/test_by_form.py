"""The unit that each question is answered in, with a search that only notes what it is asked for."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.auto.by_form import LISTED, answers_by_form
from densephrases.search.request import SearchRequest

AUTO = SearchRequest(unit="auto", k=3)


class NotedSearch:
    """Gives k answers of the wanted unit, whose text is the question."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], SearchRequest]] = []

    def __call__(self, questions: Sequence[str], request: SearchRequest) -> list[list[Answer]]:
        self.asked.append((list(questions), request))
        documents = sorted(request.documents) if request.documents is not None else [f"d{n}" for n in range(request.k)]
        return [[self._answer(question, each, request) for each in documents] for question in questions]

    def _answer(self, text: str, document: str, request: SearchRequest) -> Answer:
        span = PhraseSpan(text, 0, len(text))
        source = SourceDocument(document, "", {})
        sure = 0.2 if request.unit == "document" else 0.5
        return Answer(text, 1.0, sure, 0, len(text), source, text, text, span, 0, 0, request.result_unit)


def answered(
    questions: list[str], request: SearchRequest = AUTO, named: Sequence[str] = ()
) -> tuple[list[list[Answer]], NotedSearch]:
    search = NotedSearch()
    return answers_by_form(questions, request, search, lambda _: named), search


def test_questions_of_one_form_are_asked_together() -> None:
    questions = ["Who is it?", "How does it work?", "When was it?", "key words"]
    answers, search = answered(questions)
    assert [several[0].text for several in answers] == questions
    assert [several[0].unit for several in answers] == ["phrase", "sentence", "phrase", "sentence"]
    assert [asked for asked, _ in search.asked] == [
        ["Who is it?", "When was it?"],
        ["How does it work?"],
        ["key words"],
    ]


def test_lists_have_items() -> None:
    ((*results,),), search = answered(["Which units are there?"])
    assert len(results) == 3
    assert {answer.unit for answer in results} == {"sentence"}
    assert [item.text for item in results[0].items] == ["Which units are there?"]
    assert search.asked[0][1].k == LISTED


def test_a_named_document_comes_first_and_is_not_less_sure() -> None:
    ((*results,),), search = answered(["the manual"], named=["m"])
    assert [(answer.unit, answer.document.id) for answer in results] == [
        ("document", "m"),
        ("sentence", "d0"),
        ("sentence", "d1"),
    ]
    assert [answer.confidence for answer in results] == [0.5, 0.5, 0.5]
    assert search.asked[1][1] == replace(AUTO, unit="document", documents=["m"])


@pytest.mark.parametrize(("question", "documents"), [("Who wrote the manual?", None), ("the manual", ["d1"])])
def test_questions_name_no_document_and_filters_hold(question: str, documents: list[str] | None) -> None:
    ((*results,),), _ = answered([question], replace(AUTO, documents=documents), named=["m"])
    assert "m" not in {answer.document.id for answer in results}
