"""Limits of bodies, request ids, headers and host names."""

import json
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


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:80", "127.0.0.1:", "localhost:65535"])
def test_names_of_the_service(served: Running, host: str) -> None:
    assert served.call("GET", "/healthz", headers={"Host": host}).status == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8080", "[::1]", ""])
def test_foreign_names_are_refused(served: Running, host: str) -> None:
    assert is_problem(served.call("GET", "/healthz", headers={"Host": host}), 421, "foreign_host")


@pytest.mark.parametrize(
    "hosts",
    [
        "Host: 127.0.0.1:80@evil.example\r\n",
        "Host: evil.example@127.0.0.1\r\n",
        "Host: 127.0.0.1, evil.example\r\n",
        "Host: 127.0.0.1/evil.example\r\n",
        "Host: 127.0.0.1 evil.example\r\n",
        "Host: 127.0.0.1:http\r\n",
        "Host: 127.0.0.1:123456\r\n",
        "Host: [127.0.0.1\r\n",
        "Host: l\u00f6calhost\r\n",
        "Host: 127.0.0.1\r\nHost: 127.0.0.1\r\n",
        "Host: 127.0.0.1\r\nHost: evil.example\r\n",
        "Host: evil.example\r\nhost: 127.0.0.1\r\n",
        "",
    ],
)
@pytest.mark.parametrize("allowed", [(), ("127.0.0.1", "localhost")])
def test_what_is_no_host(index: PhraseIndex, hosts: str, allowed: tuple[str, ...]) -> None:
    with running(index, hosts=allowed) as service:
        head, _, body = service.send(f"GET /healthz HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode()).partition(
            b"\r\n\r\n"
        )
    assert head.startswith(b"HTTP/1.1 400 Bad Request")
    assert json.loads(body)["code"] == "bad_host"


def test_a_long_body_is_told_so_though_it_goes_on(index: PhraseIndex) -> None:
    with running(index, limits=Limits(body_bytes=100)) as service:
        blocks = (b"a" * 60_000 for _ in range(50))
        assert is_problem(service.call("POST", "/v1/answers", blocks, encode_chunked=True), 413, "over_limit")
