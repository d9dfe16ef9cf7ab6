"""Services that are busy, silent, gone or something else."""

import asyncio
import http.server
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from densephrases import AsyncClient, Client
from densephrases.errors import ConfigError, ServiceError
from densephrases.text.documents import Document


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://127.0.0.1", "http://"])
def test_bad_addresses(url: str) -> None:
    with pytest.raises(ConfigError, match="is not the address of a service"):
        Client(url)


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ServiceError, match=rf"'http://127.0.0.1:{port}' cannot be reached: Connection refused"):
        Client(f"http://127.0.0.1:{port}").info()
    with pytest.raises(ServiceError, match=rf"'http://127.0.0.1:{port}' cannot be reached: Connection refused"):
        asyncio.run(AsyncClient(f"http://127.0.0.1:{port}").info())


def test_a_silent_service() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Client(url, timeout=0.05) as client, pytest.raises(ServiceError, match="cannot be reached: timed out"):
            client.info()

        async def ask() -> None:
            async with AsyncClient(url, timeout=0.05) as client:
                await client.info()

        with pytest.raises(ServiceError, match="cannot be reached: ReadTimeout"):
            asyncio.run(ask())


class Scripted(http.server.BaseHTTPRequestHandler):
    """Answers as listed, then closes every connection."""

    replies: list[tuple[int, bytes]]
    retry_after = "0"
    is_silent = False  # closes without saying so
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, body = self.replies.pop(0)
        if not status:
            self.close_connection = True  # in place of a response
            return
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", self.retry_after)
        if not self.is_silent:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    do_DELETE = do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def scripted() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    yield from running(is_silent=False)


@pytest.fixture
def silent() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    yield from running(is_silent=True)


def running(*, is_silent: bool) -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    replies: list[tuple[int, bytes]] = []
    handler = type("Handler", (Scripted,), {"replies": replies, "is_silent": is_silent})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", replies
        server.shutdown()
        thread.join()


def test_a_busy_service_is_asked_again(silent: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, replies = silent
    found = b'{"id": "a", "text": "b", "title": "", "metadata": {}}'
    replies += [(503, b"{}"), (503, b"{}"), (200, found)]
    with Client(url) as client:
        assert client.document("a") == Document("a", "b")
        assert replies == []
        replies += [(503, b"{}"), (503, b'{"detail": "still busy"}')]
    with Client(url, retries=1) as client, pytest.raises(ServiceError, match="still busy"):
        client.document("a")


def test_a_busy_service_is_awaited_again(scripted: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, replies = scripted
    replies += [(503, b"{}"), (404, b'{"code": "unknown_document"}')]

    async def ask(retries: int) -> Document | None:
        async with AsyncClient(url, retries=retries) as client:
            return await client.document("a")

    assert asyncio.run(ask(1)) is None
    assert replies == []
    replies += [(503, b'{"detail": "still busy"}')]
    with pytest.raises(ServiceError, match="still busy"):
        asyncio.run(ask(0))


def test_something_else_there(scripted: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, replies = scripted
    replies += [(200, b"<html>")]
    with Client(url) as client, pytest.raises(ServiceError, match="answered 200 and no JSON"):
        client.document("a")


def test_without_httpx() -> None:
    """The extra is named, whichever way the client is imported."""
    program = "import sys; sys.modules['httpx'] = None; from densephrases import Client"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 1
    assert done.stderr.strip().endswith("pip install 'densephrases[client]'")


CHANGES: list[Callable[[Client], object]] = [
    lambda client: client.delete(["a"]),
    lambda client: client.add([Document("a", "b")]),
    lambda client: client.update([Document("a", "b")]),
]
INFO = (200, b'{"limits": {"documents": 1, "body_bytes": 1000}}')


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((0, b""), "whether the index was changed is unknown"),
        ((503, b"{}"), "status 503"),
        ((503, b"<html>"), "answered 503 and no JSON"),
        ((503, b'{"code": "deadline"}'), "status 503"),
    ],
)
def test_a_change_is_not_repeated_blindly(
    scripted: tuple[str, list[tuple[int, bytes]]],
    change: Callable[[Client], object],
    reply: tuple[int, bytes],
    message: str,
) -> None:
    url, replies = scripted
    done = (200, b'{"deleted": 1, "added": 1, "replaced": 0, "unchanged": 0}')
    replies += [reply, done] if change is CHANGES[0] else [INFO, reply, done]
    with Client(url) as client, pytest.raises(ServiceError, match=message):
        change(client)
    assert replies == [done]


@pytest.mark.parametrize(
    "reply", [(429, b""), (503, b'{"code": "writing"}'), (503, b'{"code": "too_many_connections"}')]
)
def test_a_change_that_was_not_begun_is_repeated(
    scripted: tuple[str, list[tuple[int, bytes]]], reply: tuple[int, bytes]
) -> None:
    url, replies = scripted
    replies += [reply, (200, b'{"deleted": 1}')]
    with Client(url) as client:
        assert client.delete(["a"]) == 1

    async def delete() -> int:
        async with AsyncClient(url) as client:
            return await client.delete(["a"])

    replies += [reply, (200, b'{"deleted": 1}'), (0, b"")]
    assert asyncio.run(delete()) == 1
    with pytest.raises(ServiceError, match="whether the index was changed is unknown"):
        asyncio.run(delete())


def test_a_question_is_repeated(scripted: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, replies = scripted
    replies += [(0, b""), (200, b'{"results": [{"question": "a", "answers": []}]}')]
    with Client(url) as client:
        assert client.search("a") == []


@pytest.mark.parametrize("seconds", ["1000000", "9" * 400])
def test_no_service_makes_its_clients_wait_for_ever(
    scripted: tuple[str, list[tuple[int, bytes]]], monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    url, replies = scripted
    monkeypatch.setattr(Scripted, "retry_after", seconds)
    replies += 2 * [(503, b"{}"), (404, b'{"code": "unknown_document"}')]
    with Client(url, longest_wait=0.01) as client:
        assert client.document("a") is None

    async def ask() -> Document | None:
        async with AsyncClient(url, longest_wait=0.01) as client:
            return await client.document("a")

    assert asyncio.run(ask()) is None
    with pytest.raises(ConfigError, match="longest_wait=-1 is out of range"):
        Client(url, longest_wait=-1)
