"""Clients that send too much, too slowly, nothing, or do not read."""

import socket
import time
from collections.abc import Iterator

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.settings import Limits
from tests.serve.running import GatedEncoder, Running, received, running, wait_for

HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = b"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n"
ENDLESS = 400 << 20


@pytest.fixture
def impatient(index: PhraseIndex) -> Iterator[Running]:
    with running(index, deadline_seconds=1.0) as service:
        yield service


def sent(connection: socket.socket, most: int) -> int:
    """How many bytes could be sent until the other side closed the connection."""
    block, count = b"a" * (1 << 16), 0
    try:
        while count < most:
            count += connection.send(block)
    except ConnectionError:
        pass
    return count


@pytest.mark.parametrize(
    "begin",
    [b"", b"GET /", HEAD + b"X: ", HEAD, HEAD[:-2] + b":", CHUNKED + b"1;", CHUNKED + b"1\r\n1\r\n0\r\nX: "],
    ids=["method", "path", "value", "name", "host", "chunk", "trailer"],
)
def test_an_endless_head(served: Running, begin: bytes) -> None:
    with served.connect() as connection:
        connection.sendall(begin)
        assert sent(connection, ENDLESS) < ENDLESS / 10
    assert served.call("GET", "/healthz").status == 200


def test_a_long_head_is_refused(index: PhraseIndex) -> None:
    with running(index, limits=Limits(head_bytes=1000)) as service:
        for length, status in ((1000, b"200"), (1001, b"431"), (100_000, b"431")):
            close = HEAD + b"Connection: close\r\nX: "
            reply = service.send(close + b"a" * (length - len(close) - 4) + b"\r\n\r\n")
            assert reply.split()[1] == status
        assert b"application/problem+json" in reply
        assert b"more than 1,000 bytes (limit: head_bytes)" in reply


def test_a_long_body_is_no_long_head(index: PhraseIndex) -> None:
    with running(index, limits=Limits(head_bytes=1000)) as service:
        assert service.ask("where is it? " * 70).status == 200
        body = b'{"question": "where?"}'
        chunks = [bytes([each]) for each in body + b" " * 3000]
        assert service.call("POST", "/v1/answers", iter(chunks), encode_chunked=True).status == 200


def test_what_is_no_http(served: Running) -> None:
    reply = served.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n")
    assert reply.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b'"code": "bad_request"' in reply


@pytest.mark.parametrize("begin", [b"", b"\r\n", b"G", HEAD, HEAD + b"X: "])
def test_connections_that_send_no_request_are_closed(impatient: Running, begin: bytes) -> None:
    several = [impatient.connect() for _ in range(300)]
    for each in several:
        each.sendall(begin)
    replies = {received(each).split(b"\r\n")[0] for each in several}
    assert replies == {b"HTTP/1.1 408 Request Timeout" if begin else b""}
    for each in several:
        each.close()
    assert impatient.call("GET", "/healthz").status == 200


@pytest.mark.parametrize(
    "begin", [HEAD + b"X: ", BODY, HEAD + b"\r\n" + HEAD + b"X: ", BODY.replace(b"answers", b"no")]
)
def test_a_request_that_drips(impatient: Running, begin: bytes) -> None:
    """However often a byte comes: the first, one after another on the same connection, one that nobody waits for."""
    with impatient.connect() as connection:
        connection.sendall(begin)
        with pytest.raises(ConnectionError):
            drip(connection)


def drip(connection: socket.socket) -> None:
    for _ in range(600):
        connection.sendall(b" ")
        time.sleep(0.1)


def test_a_body_that_drips_is_told_so(impatient: Running) -> None:
    with impatient.connect() as connection:
        connection.sendall(BODY)
        connection.setblocking(False)
        reply = b""
        for _ in range(600):
            connection.send(b" ")
            time.sleep(0.1)
            try:
                reply = connection.recv(1 << 16)
            except BlockingIOError:
                continue
            break
    assert reply.startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_an_idle_connection_makes_room(index: PhraseIndex) -> None:
    with running(index, connections=3) as service:
        several = [service.connect() for _ in range(3)]
        for each in several[1:]:
            each.sendall(HEAD)
        assert service.call("GET", "/healthz").status == 200
        assert received(several[0]) == b""
        several[1].sendall(b"Connection: close\r\n\r\n")
        assert received(several[1]).startswith(b"HTTP/1.1 200 OK")
        for each in several:
            each.close()


def test_connections_in_use_stay(index: PhraseIndex, encoder: GatedEncoder) -> None:
    with running(index, connections=2) as service:
        encoder.gate.clear()
        encoder.reached.clear()
        asking = [service.start_asking()]
        encoder.reached.wait()
        asking.append(service.start_asking(question="who?"))
        while not service.service.waiting:
            pass
        with service.connect() as third:
            reply = received(third)
        assert reply.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b'"code": "too_many_connections"' in reply
        assert b"\r\nretry-after: 1\r\n" in reply
        encoder.gate.set()
        assert [each.reply().status for each in asking] == [200, 200]
        assert service.ask().status == 200


def test_a_client_that_does_not_read(index: PhraseIndex) -> None:
    """What it asked for does not fit into any buffer."""
    with running(index, deadline_seconds=1.0, send_buffer=4096) as service, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", service.port))
        connection.sendall(20 * b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        wait_for(lambda: len(service.server.server_state.connections) == 1)
        wait_for(lambda: len(service.server.server_state.connections) == 0)
        assert service.ask().status == 200


def test_a_flood_of_pipelined_requests(index: PhraseIndex) -> None:
    with running(index) as service:
        reply = service.send(10_000 * (HEAD + b"\r\n"))
        assert reply.count(b"HTTP/1.1 200 OK") < 1000
        few = service.send(10 * (HEAD + b"\r\n") + HEAD + b"Connection: close\r\n\r\n")
        assert few.count(b"HTTP/1.1 200 OK") == 11
