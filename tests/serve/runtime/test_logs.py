"""What is logged, and what is not."""

import json
import logging

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.runtime.logs import JsonLines
from tests.serve.running import running


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
