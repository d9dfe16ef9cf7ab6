"""Limits of bodies, request ids, headers and host names."""

import re

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.settings import Limits
from tests.serve.running import Running, is_problem, running


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


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:80"])
def test_names_of_the_service(served: Running, host: str) -> None:
    assert served.call("GET", "/healthz", headers={"Host": host}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8080", "[::1]", ""])
def test_foreign_names_are_refused(served: Running, host: str) -> None:
    assert is_problem(served.call("GET", "/healthz", headers={"Host": host}), 421, "foreign_host")
