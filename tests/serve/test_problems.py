"""Errors of unknown paths, and of bugs."""

import logging

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.runtime.logs import JsonLines
from tests.serve.running import Running, is_problem, running


def test_unknown_addresses_and_methods(served: Running) -> None:
    assert is_problem(served.call("GET", "/v2/answers"), 404, "not_found")
    assert is_problem(served.call("GET", "/page/nothing.js"), 404, "not_found")
    assert is_problem(served.call("POST", "/", {}), 405, "method_not_allowed")
    refused = served.call("PUT", "/v1/answers", {})
    assert is_problem(refused, 405, "method_not_allowed")
    assert refused.headers["allow"] == "POST"


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
