"""POST /v1/answers."""

from dataclasses import asdict
from typing import Any

import pytest

from tests.serve.running import QUESTION, Running, is_problem


def test_one_question(served: Running) -> None:
    reply = served.ask(k=3)
    (result,) = reply.json["results"]
    assert reply.status == 200
    assert result["question"] == QUESTION
    expected = served.service.live.index.search(QUESTION, 3)
    assert result["answers"] == [asdict(answer) for answer in expected]
    assert reply.json["milliseconds"] > 0


@pytest.mark.parametrize("unit", ["phrase", "sentence", "passage", "document"])
def test_several_questions(served: Running, unit: Any) -> None:
    questions = [QUESTION, "what is it?", QUESTION]
    sent = {"questions": questions, "k": 2, "unit": unit, "where": {"lang": ["en", "de"]}, "documents": ["tower"]}
    reply = served.call("POST", "/v1/answers", sent)
    found = [[answer["document"]["id"] for answer in result["answers"]] for result in reply.json["results"]]
    expected = served.service.live.index.search(questions, 2, unit=unit, documents=["tower"])
    assert [len(ids) for ids in found] == [len(answers) for answers in expected]
    assert {identifier for ids in found for identifier in ids} == {"tower"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({}, "either 'question' or 'questions'"),
        ({"question": "a", "questions": ["b"]}, "either 'question' or 'questions'"),
        ({"question": None}, "body.question"),
        ({"question": " \n"}, "Question 1 is blank"),
        ({"questions": ["a", ""]}, "Question 2 is blank"),
        ({"questions": []}, "body.questions"),
        ({"question": "a", "k": 0}, "body.k"),
        ({"question": "a", "k": "5"}, "body.k"),
        ({"question": "a", "unit": "word"}, "body.unit"),
        ({"question": "a", "where": {"lang": {}}}, "body.where"),
        ({"question": "a", "where": {"lang": []}}, "where has [] for 'lang'"),
        ({"question": "a", "min_confidence": 1.5}, "body.min_confidence"),
        ({"question": "a", "min_confidence": 0.5}, "needs a model with a calibration"),
        ({"question": "a", "tempo": 1}, "body.tempo"),
        ({"question": "\ud800"}, "body.question"),
        ([], "body"),
        (b"{", "JSON"),
        (b"", "body"),
        ({"question": "a" * 1001}, "at most 1,000 (limit: question_characters)"),
        ({"questions": ["a"] * 65}, "at most 64 (limit: questions)"),
        ({"question": "a", "k": 101}, "at most 100 (limit: k)"),
        ({"question": "a", "documents": ["a"] * 1001}, "at most 1,000 (limit: documents)"),
    ],
)
def test_invalid_questions(served: Running, content: Any, expected: str) -> None:
    reply = served.call("POST", "/v1/answers", content)
    assert is_problem(reply, 422, "over_limit" if "limit:" in expected else "invalid")
    assert expected in reply.json["detail"]


def test_json_must_be_called_json(served: Running) -> None:
    """Otherwise any web page could send a form to a service on its visitor's machine."""
    reply = served.call("POST", "/v1/answers", {"question": "a"}, {"Content-Type": "text/plain"})
    assert is_problem(reply, 422, "invalid")


def test_numbers_and_nesting_beyond_reason(served: Running) -> None:
    assert is_problem(served.call("POST", "/v1/answers", b'{"k": ' + b"9" * 5000 + b"}"), 400, "bad_request")
    assert is_problem(served.call("POST", "/v1/answers", b"[" * 100_000), 400, "bad_request")
