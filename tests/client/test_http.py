"""Services that are busy, silent, gone or something else."""

import asyncio
import http.server
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

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
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status, body = self.replies.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True  # without having said so

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def scripted() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    replies: list[tuple[int, bytes]] = []
    handler = type("Handler", (Scripted,), {"replies": replies})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", replies
        server.shutdown()
        thread.join()


def test_a_busy_service_is_asked_again(scripted: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, replies = scripted
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
