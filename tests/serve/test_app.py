"""Requests as a client sends them, to a service on a real socket."""

import json
import logging
import re
from dataclasses import asdict
from typing import Any

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from densephrases.serve.runtime.logs import JsonLines
from densephrases.serve.runtime.middleware import PAGE_POLICY
from densephrases.serve.settings import Limits

from .conftest import ADMIN, READING
from .running import CITIES, QUESTION, GatedEncoder, Reply, Running, running


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def is_problem(reply: Reply, status: int, code: str) -> bool:
    """One shape for every error, with the id of the request in it and beside it."""
    content = reply.json
    return (
        (reply.status, content["status"], content["code"]) == (status, status, code)
        and reply.headers["content-type"] == "application/problem+json"
        and content["type"] == "about:blank"
        and bool(content["title"] and content["detail"])
        and content["request_id"] == reply.headers["x-request-id"] != ""
    )


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


def test_facts(served: Running) -> None:
    sent = {"subjects": ["London", "Paris"], "relation": "river", "prefer_titles": True}
    reply = served.call("POST", "/v1/extract", sent)
    expected = served.service.live.index.extract(["London", "Paris"], "river")
    assert reply.status == 200
    for found, fact in zip(reply.json["results"], expected, strict=True):
        assert (found["subject"], found["relation"], found["object"]) == (fact.subject, "river", fact.object)
        assert fact.answer is not None
        assert found["answer"]["document"]["id"] == fact.answer.document.id


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"subjects": ["a"]}, "body.relation"),
        ({"subjects": [], "relation": "river"}, "body.subjects"),
        ({"subjects": [" "], "relation": "river"}, "Subject 1 is empty"),
        ({"subjects": ["a"], "relation": " "}, "The relation is empty"),
        ({"subjects": ["a"], "relation": "b", "template": "c"}, "body.template"),
        ({"subjects": ["a"] * 65, "relation": "b"}, "at most 64 (limit: questions)"),
        ({"subjects": ["a"], "relation": "b" * 1001}, "at most 1,000 (limit: question_characters)"),
    ],
)
def test_invalid_facts(served: Running, content: Any, expected: str) -> None:
    reply = served.call("POST", "/v1/extract", content)
    assert is_problem(reply, 422, "over_limit" if "limit:" in expected else "invalid")
    assert expected in reply.json["detail"]


def test_json_must_be_called_json(served: Running) -> None:
    """Otherwise any web page could send a form to a service on its visitor's machine."""
    reply = served.call("POST", "/v1/answers", {"question": "a"}, {"Content-Type": "text/plain"})
    assert is_problem(reply, 422, "invalid")


def test_numbers_and_nesting_beyond_reason(served: Running) -> None:
    assert is_problem(served.call("POST", "/v1/answers", b'{"k": ' + b"9" * 5000 + b"}"), 400, "bad_request")
    assert is_problem(served.call("POST", "/v1/answers", b"[" * 100_000), 400, "bad_request")


def test_unknown_addresses_and_methods(served: Running) -> None:
    assert is_problem(served.call("GET", "/v2/answers"), 404, "not_found")
    assert is_problem(served.call("GET", "/page/nothing.js"), 404, "not_found")
    assert is_problem(served.call("POST", "/", {}), 405, "method_not_allowed")
    refused = served.call("PUT", "/v1/answers", {})
    assert is_problem(refused, 405, "method_not_allowed")
    assert refused.headers["allow"] == "POST"


def test_a_long_body_is_refused_before_it_is_read(index: PhraseIndex) -> None:
    with running(index, limits=Limits(body_bytes=100)) as service:
        announced = service.call("POST", "/v1/answers", {"question": "a" * 200})
        assert is_problem(announced, 413, "over_limit")
        assert "more than 100 bytes (limit: body_bytes)" in announced.json["detail"]
        chunked = service.call("POST", "/v1/answers", iter([b"a" * 60, b"a" * 60]), encode_chunked=True)
        assert is_problem(chunked, 413, "over_limit")
        assert service.ask().status == 200


def test_a_body_that_does_not_come(index: PhraseIndex) -> None:
    with running(index, deadline_seconds=0.05) as service:
        reply = service.call("POST", "/v1/answers", b"", {"Content-Length": "10"})
        assert is_problem(reply, 408, "slow_body")


@pytest.mark.parametrize("given", ["my-id.42", "", "two words", "x" * 65])
def test_request_ids(served: Running, given: str) -> None:
    """A sensible one is kept, so that a proxy's log and ours tell of the same request."""
    reply = served.call("GET", "/healthz", headers={"X-Request-Id": given})
    assert (reply.headers["x-request-id"] == given) is (given == "my-id.42")
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", reply.headers["x-request-id"])


@pytest.mark.parametrize("path", ["/healthz", "/v1/info", "/v1/nothing"])
def test_security_headers(served: Running, path: str) -> None:
    headers = served.call("GET", path, headers={"Origin": "https://elsewhere.example"}).headers
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers
    assert not any(name.startswith("access-control") for name in headers)


def test_origins_that_are_allowed(index: PhraseIndex) -> None:
    with running(index, origins=("https://ours.example",)) as service:
        ours = service.call("GET", "/v1/info", headers={"Origin": "https://ours.example"})
        assert ours.headers["access-control-allow-origin"] == "https://ours.example"
        assert (
            "access-control-allow-origin"
            not in service.call("GET", "/v1/info", headers={"Origin": "https://other.example"}).headers
        )


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:80"])
def test_names_of_the_service(served: Running, host: str) -> None:
    assert served.call("GET", "/healthz", headers={"Host": host}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8080", "[::1]", ""])
def test_foreign_names_are_refused(served: Running, host: str) -> None:
    assert is_problem(served.call("GET", "/healthz", headers={"Host": host}), 421, "foreign_host")


def test_whole_documents(served: Running) -> None:
    for document in CITIES:
        reply = served.call("GET", f"/v1/documents/{document.id}")
        assert reply.json == {**asdict(document), "phrase": None}
    (answer,) = served.ask(k=1, documents=["tower"], unit="sentence").json["results"][0]["answers"]
    reply = served.call("GET", f"/v1/documents/tower?start={answer['start']}&end={answer['end']}")
    assert reply.json["phrase"] == {"text": answer["text"], "start": answer["start"], "end": answer["end"]}
    assert is_problem(served.call("GET", "/v1/documents/rome"), 404, "unknown_document")
    for query in ("start=3", "start=5&end=4", "start=0&end=1000", "start=-1&end=2", "start=a&end=2"):
        assert is_problem(served.call("GET", f"/v1/documents/tower?{query}"), 422, "invalid")


def test_changes_need_an_admin_key(index: PhraseIndex, served: Running, keys: Keys) -> None:
    sent = {"documents": [{"id": "rome", "text": "Rome is a city on the river."}]}
    assert is_problem(served.call("POST", "/v1/documents", sent, bearer(ADMIN)), 403, "read_only")
    with running(index, keys=keys) as service:
        for headers, status, code in [
            ({}, 401, "unauthorized"),
            (bearer("wrong"), 401, "unauthorized"),
            (bearer(READING), 403, "not_admin"),
        ]:
            assert is_problem(service.call("POST", "/v1/documents", sent, headers), status, code)
            assert is_problem(service.call("DELETE", "/v1/documents?id=paris", None, headers), status, code)
        assert service.call("POST", "/v1/documents", sent, bearer(ADMIN)).status == 200


@pytest.mark.parametrize("path", ["/v1/info", "/v1/examples", "/v1/documents/paris", "/metrics"])
def test_reading_needs_a_key_where_there_are_keys(index: PhraseIndex, keys: Keys, path: str) -> None:
    with running(index, keys=keys) as service:
        refused = service.call("GET", path)
        assert is_problem(refused, 401, "unauthorized")
        assert refused.headers["www-authenticate"] == "Bearer"
        assert is_problem(service.ask(), 401, "unauthorized")
        assert is_problem(service.call("GET", path, headers={"Authorization": "Basic eA=="}), 401, "unauthorized")
        for key in (READING, ADMIN):
            assert service.call("GET", path, headers=bearer(key)).status == 200
        assert service.call("GET", "/healthz").status == service.call("GET", "/readyz").status == 200


def test_adding_and_deleting(index: PhraseIndex, keys: Keys) -> None:
    rome = {"id": "rome", "text": "Rome is a city on the river.", "title": "Rome", "metadata": {"lang": "it"}}
    with running(index, keys=keys, reload_seconds=1000) as service:

        def change(method: str, path: str, content: Any = None) -> Reply:
            return service.call(method, path, content, bearer(ADMIN))

        added = change("POST", "/v1/documents", {"documents": [rome]})
        assert added.json == {"added": 1, "replaced": 0, "unchanged": 0, "documents": 4}
        asked = {"question": QUESTION, "where": {"lang": "it"}}
        found = service.call("POST", "/v1/answers", asked, bearer(READING)).json["results"][0]["answers"]
        assert {answer["document"]["id"] for answer in found} == {"rome"}
        again = change("POST", "/v1/documents", {"documents": [rome]})
        assert again.json == {"added": 0, "replaced": 0, "unchanged": 1, "documents": 4}
        other = {**rome, "text": "Rome was not built in a year."}
        assert is_problem(change("POST", "/v1/documents", {"documents": [other]}), 409, "other_content")
        replaced = change("POST", "/v1/documents", {"documents": [other], "replace": True})
        assert replaced.json == {"added": 0, "replaced": 1, "unchanged": 0, "documents": 4}
        unknown = change("DELETE", "/v1/documents?id=rome&id=oslo")
        assert is_problem(unknown, 404, "unknown_document")
        assert change("DELETE", "/v1/documents?id=rome&id=places/london").json == {"deleted": 2, "documents": 2}
        assert is_problem(service.call("GET", "/v1/documents/rome", headers=bearer(ADMIN)), 404, "unknown_document")
    assert index.reopened().check() == []


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [{"id": "a"}],
        [{"id": "a", "text": "b"}, {"id": "a", "text": "c"}],
        [{"id": "a", "text": "b", "metadata": {"c": float("nan")}}],
        [{"id": "a", "text": "\ud800"}],
        [{"id": 1, "text": "b"}],
    ],
)
def test_unusable_documents(index: PhraseIndex, keys: Keys, documents: Any) -> None:
    with running(index, keys=keys) as service:
        reply = service.call("POST", "/v1/documents", {"documents": documents}, bearer(ADMIN))
        assert is_problem(reply, 422, "invalid")
    assert len(index.reopened()) == 3


def test_an_index_in_use(index: PhraseIndex, keys: Keys) -> None:
    from densephrases.index.lock import only_writer

    with running(index, keys=keys) as service, only_writer(index.folder.folder):
        reply = service.call("DELETE", "/v1/documents?id=paris", None, bearer(ADMIN))
        assert is_problem(reply, 409, "index_busy")
        assert reply.headers["retry-after"] == "5"


def test_questions_while_the_index_changes(index: PhraseIndex) -> None:
    """No request fails while another process adds, deletes and merges."""
    with running(index, reload_seconds=0.001) as service:
        other = index.reopened()
        askers = []
        for number in range(10):
            askers += [service.start_asking(k=5), service.start_asking(question="who?", unit="document")]
            other.update([CITIES[0].__class__("new", f"The river of {number} is in a city.")])
            other.optimize()
        assert {asker.reply().status for asker in askers} == {200}


def test_a_full_queue(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index, queue=2) as service:
        encoder.gate.clear()
        encoder.reached.clear()
        asking = [service.start_asking()]
        encoder.reached.wait()
        refused = service.call("POST", "/v1/answers", {"questions": ["who?", "what?", "when?"]})
        assert is_problem(refused, 503, "queue_full")
        assert int(refused.headers["retry-after"]) >= 1
        encoder.gate.set()
        assert asking[0].reply().status == 200
        numbers = service.call("GET", "/metrics").body.decode()
        assert 'densephrases_refused_total{reason="queue_full"} 1.0' in numbers


def test_the_deadline(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index, deadline_seconds=1.0) as service:  # also that of the body, which needs some time to come
        encoder.gate.clear()
        reply = service.ask()
        assert is_problem(reply, 503, "deadline")
        assert reply.headers["retry-after"] == "1"
        encoder.gate.set()


def test_a_bug_is_one_clean_error(
    index: PhraseIndex, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with running(index) as service:
        monkeypatch.setattr(PhraseIndex, "search", lambda *_, **__: 1 / 0)
        reply = service.ask("is this secret?")
        assert is_problem(reply, 500, "server_error")
        assert reply.headers["x-content-type-options"] == "nosniff"
    (record,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert reply.json["request_id"] in JsonLines().format(record)
    assert "ZeroDivisionError" in JsonLines().format(record)


@pytest.mark.parametrize("log_questions", [False, True])
def test_the_log(index: PhraseIndex, caplog: pytest.LogCaptureFixture, log_questions: bool) -> None:
    with caplog.at_level(logging.INFO), running(index, log_questions=log_questions) as service:
        reply = service.ask("is this secret?")
        service.call("GET", "/v1/documents/secret?start=1")
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    asked = next(line for line in lines if line.get("route") == "/v1/answers")
    assert asked["request_id"] == reply.headers["x-request-id"]
    assert (asked["event"], asked["status"], asked["method"]) == ("request", 200, "POST")
    assert asked["questions"] == (["is this secret?"] if log_questions else 1)
    assert ("secret" in caplog.text + json.dumps(lines)) is log_questions


def test_info(served: Running) -> None:
    content = served.call("GET", "/v1/info").json
    assert (content["index"]["documents"], content["confidence"], content["changes"]) == (3, False, False)
    assert content["limits"] == asdict(Limits())
    assert "/" not in content["index"]["settings"]["model"]


def test_health(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index, queue=1) as service:
        assert service.call("GET", "/readyz").json == {"status": "ready"}
        encoder.gate.clear()
        encoder.reached.clear()
        asking = [service.start_asking()]
        encoder.reached.wait()
        asking.append(service.start_asking())
        while service.call("GET", "/readyz").status == 200:  # until the second one waits
            pass
        assert is_problem(service.call("GET", "/readyz"), 503, "not_ready")
        assert service.call("GET", "/healthz").json == {"status": "ok"}
        encoder.gate.set()
        assert [each.reply().status for each in asking] == [200, 200]


def test_metrics(index: PhraseIndex) -> None:
    with running(index) as service:
        service.ask()
        service.call("GET", "/v1/documents/a/b/c")
        service.call("GET", "/anything")
        numbers = service.call("GET", "/metrics")
    assert numbers.headers["content-type"].startswith("text/plain; version=")
    lines = numbers.body.decode().splitlines()
    assert 'densephrases_requests_total{route="/v1/answers",status="200"} 1.0' in lines
    assert 'densephrases_requests_total{route="/v1/documents/{id:path}",status="404"} 1.0' in lines
    assert 'densephrases_requests_total{route="none",status="404"} 1.0' in lines
    assert "densephrases_batch_questions_count 1.0" in lines
    assert "densephrases_documents 3.0" in lines


def test_openapi(index: PhraseIndex) -> None:
    with running(index, limits=Limits(k=7)) as service:
        schema = service.call("GET", "/openapi.json").json
    asked = schema["components"]["schemas"]["SearchBody"]
    assert asked["properties"]["k"]["maximum"] == 7
    assert asked["examples"]
    for path, method in [("/v1/answers", "post"), ("/v1/documents", "post"), ("/v1/documents/{id}", "get")]:
        refusals = schema["paths"][path][method]["responses"]
        assert list(refusals["422"]["content"]) == ["application/problem+json"]
        assert "401" in refusals
    for path in ("/docs", "/redoc"):  # would load scripts from elsewhere
        assert path not in schema["paths"]


def test_the_page(served: Running) -> None:
    """All it needs is here, nothing in it is inline, and it is asked for again only when it has changed."""
    page = served.call("GET", "/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["content-security-policy"] == PAGE_POLICY
    assert "unsafe" not in PAGE_POLICY
    text = page.body.decode()
    assert not re.search(r"<style|style=|<script>|\son\w+=|https?:", text)
    for path, kind in re.findall(r'(?:href|src)="(page/[^"]+\.(\w+))"', text):
        part = served.call("GET", f"/{path}")
        assert part.status == 200
        assert {"css": "text/css", "js": "javascript", "svg": "image/svg+xml"}[kind] in part.headers["content-type"]
        assert part.headers["content-security-policy"] == PAGE_POLICY
        again = served.call("GET", f"/{path}", headers={"If-None-Match": part.headers["etag"]})
        assert again.status == 304


def test_the_page_needs_no_key(index: PhraseIndex, keys: Keys) -> None:
    """It holds nothing of the index, and asks for the key itself."""
    with running(index, keys=keys) as service:
        assert service.call("GET", "/").status == 200
