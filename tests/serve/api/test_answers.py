"""POST /v1/answers."""

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from densephrases.search.answers import Answer
from densephrases.search.deadline import Deadline
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.settings import Limits
from tests.serve.running import CITIES, QUESTION, ReadingEncoder, Running, is_problem, running, wait_for


def as_json(answer: Answer) -> Any:
    """All but the layout of its document, which stays in the index."""
    shown = json.loads(json.dumps(asdict(answer)))
    del shown["document"]["layout"]
    return shown


@pytest.mark.parametrize("options", [{}, {"overlapping": True}, {"unit": "auto"}])
def test_the_same_results_as_in_python(served: Running, options: dict[str, Any]) -> None:
    (result,) = served.call("POST", "/v1/answers", {"question": QUESTION, **options}).json["results"]
    expected = served.service.live.index.search(QUESTION, **options)
    assert result["answers"] == [as_json(answer) for answer in expected]
    assert any(answer["alternatives"] for answer in result["answers"]) != options.get("overlapping", False)


def test_one_question(served: Running) -> None:
    reply = served.ask(k=3)
    (result,) = reply.json["results"]
    assert reply.status == 200
    assert result["question"] == QUESTION
    expected = served.service.live.index.search(QUESTION, 3)
    assert result["answers"] == [as_json(answer) for answer in expected]
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


def test_ranges(served: Running) -> None:
    for where, expected in (({"lang": {">=": "en"}}, True), ({"lang": {">": "en", "<": "f"}}, False)):
        reply = served.ask(where=where, unit="document")
        found = {answer["document"]["metadata"].get("lang") for answer in reply.json["results"][0]["answers"]}
        assert ("en" in found) == expected
        assert all(lang >= "en" for lang in found)


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
        ({"question": "a", "where": {"lang": {"=": 1}}}, "body.where"),
        ({"question": "a", "where": {"lang": {">": True}}}, "body.where"),
        ({"question": "a", "where": {"lang": {">": 1}}}, "compares 'lang' with 1, but document"),
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
        ({"question": "a", "where": {"b": [1] * 1001}}, "at most 1,000 (limit: conditions)"),
        ({"question": "a", "where": {str(n): 1 for n in range(1001)}}, "at most 1,000 (limit: conditions)"),
        ({"question": "a", "where": {str(n): [] for n in range(1001)}}, "at most 1,000 (limit: conditions)"),
        ({"question": "a", "lexical_weight": 1e308}, "body.lexical_weight"),
    ],
)
def test_invalid_questions(served: Running, content: Any, expected: str) -> None:
    reply = served.call("POST", "/v1/answers", content)
    assert is_problem(reply, 422, "over_limit" if "limit:" in expected else "invalid")
    assert expected in reply.json["detail"]


@pytest.mark.parametrize(
    "content",
    [
        {"questions": [1] * 500_000},
        {"question": "a", "documents": [1] * 500_000},
        {"question": "a", "where": {"a": [None] * 500_000}},
        {"question": "a", "where": {str(n): None for n in range(200_000)}},
        {"question": "a", **{str(n): 1 for n in range(200_000)}},
    ],
    ids=["questions", "documents", "values", "conditions", "keys"],
)
def test_of_many_mistakes_the_first_is_named(served: Running, content: Any) -> None:
    """All of them would take minutes and gigabytes."""
    reply = served.call("POST", "/v1/answers", content)
    assert is_problem(reply, 422, "invalid")
    assert len(reply.json["errors"]) == 1


def test_limits_of_thoroughness(index: PhraseIndex) -> None:
    with running(index, limits=Limits(effort=0.5, exact_vectors=10)) as service:
        assert service.ask(effort=0.5).status == 200
        dear = service.ask(effort=0.6)
        assert is_problem(dear, 422, "over_limit")
        assert dear.json["detail"] == "effort=0.6; this service takes at most 0.5 (limit: effort)."
        exact = service.ask(exact=True)
        assert is_problem(exact, 422, "over_limit")
        assert f"reads all {index.folder.vectors} token vectors" in exact.json["detail"]
        assert "(limit: exact_vectors)" in exact.json["detail"]
        assert [service.ask(exact=choice).status for choice in (None, False)] == [200, 200]
    with running(index) as service:
        found = service.ask(exact=True).json["results"][0]["answers"]
        assert found == [as_json(answer) for answer in index.search(QUESTION, exact=True)]


def test_verified_answers(tmp_path: Path) -> None:
    index = PhraseIndex.create(tmp_path / "index", CITIES, model=ReadingEncoder())
    with running(index, limits=Limits(verify=2)) as service:
        assert service.call("GET", "/v1/info").json["reads"] is True
        for verify in (None, 0, 1, 2, "auto"):
            found = service.ask(verify=verify).json["results"][0]["answers"]
            assert found == [as_json(answer) for answer in index.search(QUESTION, verify=verify)]
            assert found[0]["verified"] is (verify != 0)
        dear = service.ask(verify=3)
        assert is_problem(dear, 422, "over_limit")
        assert "verify=3; this service takes at most 2 (limit: verify)." in dear.json["detail"]
        for wrong in (-1, 1.5, "always", True):
            assert is_problem(service.ask(verify=wrong), 422, "invalid")
    with running(index, limits=Limits(verify=0)) as service:
        assert [service.ask(verify=verify).status for verify in (1, "auto")] == [422, 422]
        assert service.ask().json["results"][0]["answers"][0]["verified"] is False, "nothing is read by default either"


@pytest.mark.parametrize("verify", [1, "auto"])
def test_a_model_that_does_not_read_verifies_nothing(served: Running, verify: Any) -> None:
    assert served.call("GET", "/v1/info").json["reads"] is False
    reply = served.ask(verify=verify)
    assert is_problem(reply, 422, "invalid")
    assert "needs a model that reads" in reply.json["detail"]


def test_a_client_that_leaves_ends_its_search(index: PhraseIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would not end otherwise."""
    ended = threading.Event()

    def search(index: PhraseIndex, questions: Any, *, deadline: Deadline, **options: Any) -> Any:
        try:
            while True:
                deadline.check()
        finally:
            ended.set()

    with running(index, deadline_seconds=1000.0) as service:
        monkeypatch.setattr(PhraseIndex, "search", search)
        body = b'{"question": "where?"}'
        with service.connect() as connection:
            connection.sendall(
                b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            wait_for(lambda: "densephrases_batch_questions_count 1.0" in service.call("GET", "/metrics").body.decode())
            assert not ended.is_set()
        assert ended.wait(60)


def test_json_must_be_called_json(served: Running) -> None:
    """Otherwise any web page could send a form to a service on its visitor's machine."""
    reply = served.call("POST", "/v1/answers", {"question": "a"}, {"Content-Type": "text/plain"})
    assert is_problem(reply, 422, "invalid")


def test_numbers_and_nesting_beyond_reason(served: Running) -> None:
    assert is_problem(served.call("POST", "/v1/answers", b'{"k": ' + b"9" * 5000 + b"}"), 400, "bad_request")
    assert is_problem(served.call("POST", "/v1/answers", b"[" * 100_000), 400, "bad_request")
