"""A service on a real socket, in a thread of the test's process, and a small client for it."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import uvicorn

from densephrases.arrays import Floats
from densephrases.model.padding import TokenBatch
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.runtime.service import Service
from densephrases.serve.server import bind, uvicorn_config
from densephrases.serve.settings import ServiceSettings
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder

CITIES = [
    Document("tower", "The tower in Paris was built by it.\r\n\r\nIt was a year 😀.", "Tower", {"lang": "en"}),
    Document("places/london", "London is a city on the river. When was it built?", "London", {"lang": "en"}),
    Document("paris", "Paris is in France.", "Paris", {"lang": "fr", "year": 1889}),
]
QUESTION = "where is the river?"
READING, ADMIN = "a-key-for-reading-only", "a-key-for-administration"


class GatedEncoder(HashEncoder):
    """Encodes no question while its gate is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.reached = threading.Event()

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        self.reached.set()
        self.gate.wait()
        return super().forward_questions(batch)


class ReadingEncoder(GatedEncoder):
    """Also reads; answers have confidences."""

    def __init__(self) -> None:
        super().__init__()
        weights = {"intercept": 0.0, "score": 0.0, "gap": 0.0, "share": 1.0, "temperature": 1.0}
        self.config = replace(self.config, reads=True, confidence=weights)

    def forward_reading(self, batch: TokenBatch) -> Floats:
        return np.stack([np.cos(batch.ids * 0.7), np.cos(batch.ids * 1.3)], axis=2).astype(np.float32)


class TwoTasks(GatedEncoder):
    """Its side 'upside-down' asks for the opposite."""

    task: str | None = None
    loaded = 0

    @property
    def tasks(self) -> list[str]:
        return ["upside-down"]

    def with_task(self, task: str | None) -> "TwoTasks":
        side = TwoTasks()
        side.task = task
        self.loaded += 1
        return side

    def forward_questions(self, batch: TokenBatch) -> tuple[Floats, Floats, Floats | None]:
        start, end, _ = super().forward_questions(batch)
        return (start, end, None) if self.task is None else (-start, -end, None)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Running:
    """Where a service listens."""

    service: Service
    port: int
    server: uvicorn.Server
    thread: threading.Thread

    def call(
        self, method: str, path: str, content: Any = None, headers: Mapping[str, str] | None = None, **options: Any
    ) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            sent = content if content is None or isinstance(content, bytes | Iterator) else json.dumps(content).encode()
            connection.request(method, path, sent, {"Content-Type": "application/json", **(headers or {})}, **options)
            response = connection.getresponse()
            return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        finally:
            connection.close()

    def connect(self) -> socket.socket:
        """A connection for bytes that no client would send; a test that waits in vain fails."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def send(self, request: bytes) -> bytes:
        """All that comes back until the service closes the connection."""
        with self.connect() as connection:
            connection.sendall(request)
            return received(connection)

    def ask(self, question: str = QUESTION, **terms: Any) -> Reply:
        return self.call("POST", "/v1/answers", {"question": question, **terms})

    def start_asking(self, **terms: Any) -> "Asking":
        asking = Asking(self, terms)
        asking.start()
        return asking


class Asking(threading.Thread):
    """Asks in a thread of its own."""

    def __init__(self, running: Running, terms: dict[str, Any]) -> None:
        super().__init__()
        self._running = running
        self._terms = terms
        self._replies: list[Reply] = []

    def run(self) -> None:
        self._replies.append(self._running.ask(**self._terms))

    def reply(self) -> Reply:
        self.join()
        return self._replies[0]


@contextmanager
def running(index: PhraseIndex, port: int = 0, send_buffer: int | None = None, **settings: Any) -> Iterator[Running]:
    service = Service(ServiceSettings(index=index.folder.folder, **settings), index)
    listening: socket.socket = bind("127.0.0.1", port)[0]
    if send_buffer is not None:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)  # connections inherit it
    server = uvicorn.Server(uvicorn_config(service))
    thread = threading.Thread(target=server.run, args=([listening],))
    port = listening.getsockname()[1]
    thread.start()
    try:
        yield Running(service, port, server, thread)
    finally:
        if isinstance(index.encoder, GatedEncoder):
            index.encoder.gate.set()  # a test that failed must not wait for ever
        server.should_exit = True
        thread.join()
        listening.close()


def received(connection: socket.socket) -> bytes:
    """All that comes until the other side closes the connection, one way or the other."""
    found = b""
    try:
        while block := connection.recv(1 << 16):
            found += block
    except ConnectionError:
        pass
    return found


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


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)
