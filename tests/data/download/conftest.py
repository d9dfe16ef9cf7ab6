"""A real web server on this machine that serves what a test gives it, with the faults that servers have."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Served:
    """A file, and how the server answers for it.

    Attributes:
        cut: How many bytes each answer sends before the connection breaks, one answer after the other.
        statuses: Of the first answers, before the file is served.
    """

    content: bytes
    etag: str | None = '"v1"'
    ranges: bool = True
    cut: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    location: str | None = None


@dataclass
class Web:
    address: str
    files: dict[str, Served] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    def serve(self, name: str, content: bytes, **how: object) -> str:
        self.files[f"/{name}"] = Served(content, **how)  # type: ignore[arg-type]
        return f"{self.address}/{name}"


@pytest.fixture
def web() -> Iterator[Web]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self, site)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Web(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


def answer(request: BaseHTTPRequestHandler, site: Web) -> None:
    wanted = request.headers.get("Range")
    site.asked.append((request.path, wanted))
    file = site.files.get(request.path)
    if file is None:
        request.send_error(404)
        return
    if file.statuses:
        request.send_error(file.statuses.pop(0))
        return
    if file.location is not None:
        request.send_response(302)
        request.send_header("Location", file.location)
        request.send_header("Content-Length", "0")
        request.end_headers()
        return
    _send(request, file, wanted)


def _send(request: BaseHTTPRequestHandler, file: Served, wanted: str | None) -> None:
    fresh = file.etag is not None and request.headers.get("If-Range") == file.etag
    first = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted and file.ranges and fresh else 0
    total = len(file.content)
    if wanted and fresh and file.ranges and first >= total:
        request.send_response(416)
        request.send_header("Content-Range", f"bytes */{total}")
        request.send_header("Content-Length", "0")
        request.end_headers()
        return
    request.send_response(206 if first else 200)
    if first:
        request.send_header("Content-Range", f"bytes {first}-{total - 1}/{total}")
    if file.etag is not None:
        request.send_header("ETag", file.etag)
    request.send_header("Content-Length", str(total - first))
    request.end_headers()
    request.wfile.write(file.content[first:][: file.cut.pop(0) if file.cut else total])
    request.close_connection = True
