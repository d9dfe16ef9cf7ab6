"""An S3-compatible store on this machine, and a proxy before it that fails some requests."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

from s3fs import S3FileSystem

BUCKET = "indexes"
_PATIENCE_S = 60
_SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"


@contextmanager
def s3_server(fail_every: int) -> Iterator[str]:
    """The URL of a store with an empty bucket; environment variables let this process and its children find it.

    Every so many requests the proxy answers 503, or closes the connection without an answer.
    """
    port = _free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as moto:  # noqa: S603
        try:
            _wait(port)
            _request(port, "PUT", f"/{BUCKET}")
            with _proxy(port, fail_every) as url, _environment(url):
                yield url
        finally:
            moto.terminate()


@contextmanager
def _environment(url: str) -> Iterator[None]:
    """File systems that were opened before keep the address that they had then, so they are forgotten."""
    values = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    S3FileSystem.clear_instance_cache()
    try:
        yield
    finally:
        S3FileSystem.clear_instance_cache()
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _proxy(port: int, fail_every: int) -> Iterator[str]:
    class Handler(_Handler):
        target = port
        every = fail_every

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    target: ClassVar[int]
    every: ClassVar[int]
    requests: ClassVar[int] = 0

    def _forward(self) -> None:
        type(self).requests += 1
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.requests % self.every == 0:
            if self.requests % (2 * self.every) == 0:
                self._answer(503, [], _SLOW_DOWN)
            self.close_connection = True
            return
        connection = HTTPConnection("127.0.0.1", self.target, timeout=_PATIENCE_S)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        self._answer(answer.status, answer.getheaders(), answer.read())
        connection.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        given = {name.lower(): value for name, value in headers}
        given.pop("transfer-encoding", None)
        if self.command != "HEAD":
            given["content-length"] = str(len(body))
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _forward

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _request(port: int, method: str, path: str) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    with suppress(ConnectionError):
        connection.request(method, path)
        return connection.getresponse().status
    return 0


def _wait(port: int) -> None:
    begun = time.monotonic()
    while not _request(port, "GET", "/"):
        assert time.monotonic() - begun < _PATIENCE_S
        time.sleep(0.2)
