"""Requests of any shape: none is answered with a 500, none hangs, and the service lives on."""

import asyncio
import json
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.app import create_app
from densephrases.serve.keys import Keys
from densephrases.serve.runtime.service import Service
from densephrases.serve.settings import ServiceSettings
from tests.faults.outcome import Outcome
from tests.index.made_up import HashEncoder
from tests.serve.running import ADMIN, CITIES, Running, running

PROMISE = "No request is answered with a 500, hangs, or ends the service"
PATIENCE = 60.0  # seconds after which a request counts as hanging
_AT_ONCE = 250
_SOCKET_SHARE = 10  # one in so many cases goes through a socket
_SHOWN = 200

Json = Any
BODIES: list[tuple[str, Json]] = [
    ("/v1/answers", {"question": "where is the river?", "k": 2}),
    (
        "/v1/answers",
        {
            "questions": ["where?", "who built it?"],
            "unit": "sentence",
            "where": {"lang": ["en", "fr"], "year": 1889},
            "documents": ["tower"],
            "min_confidence": 0,
            "effort": 0.5,
            "exact": True,
            "lexical_weight": 0.5,
            "truecase": False,
            "task": None,
        },
    ),
    ("/v1/extract", {"subjects": ["Paris"], "relation": "country", "template": "{relation} {subject}?"}),
    ("/v1/documents", {"documents": [{"id": "a", "text": "", "title": 1, "metadata": {"a": [1]}}], "replace": 1}),
]
ODD: list[Json] = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    10**400,
    -0.0,
    1e308,
    1e-320,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\x00",
    "\ud800",
    "a" * 1001,
    "where? " * 200,
    "{subject}" * 50,
    "\u202e\U0001f600",
    [],
    {},
    [[]],
    [None],
    [""],
    {"": None},
    list(range(1100)),
    {str(number): number for number in range(1100)},
    "deep",
]
METHODS = ["GET", "POST", "DELETE", "HEAD", "PUT", "OPTIONS", "PATCH", "TRACE", "get"]
PATHS = [
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/v1/info",
    "/v1/answers",
    "/v1/extract",
    "/openapi.json",
    "/style.css",
    "/v1/documents",
    "/v1/documents/paris?start=0&end=3",
    "/v1/documents/paris?start=-1",
    "/v1/documents?id=nobody",
    "//",
    "/v1/documents/%ED%A0%80",
    "/v1/documents/%00",
    "/v1/documents/..%2f..",
    "/%",
    "/../..",
    "/v1/documents?id=%ff&id=",
    "/v1/documents/paris?start=" + "9" * 5000,
]
HEADERS = [
    b"Content-Length: -1",
    b"Content-Length: 99999999999999999999",
    b"Content-Length: 1, 2",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked",
    b"Expect: 100-continue",
    b"Connection: upgrade",
    b"Upgrade: websocket",
    b"Connection: close",
    b"Host: evil@example",
    b"Host:",
    b"X-Request-Id: " + b"x" * 100,
    b": a",
    b"a",
    b" folded",
    b"A\x00: b",
    b"Authorization: Bearer",
    b"Authorization: Bearer \xff",
    b"Range: bytes=0-",
    b"Content-Encoding: gzip",
    b"X: " + b"y" * 70_000,
    b"Origin: null",
    b"Sec-WebSocket-Key: a",
    b"Content-Type: multipart/form-data",
    b"Accept: " + b"a/b," * 500,
]


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    """Most requests go to the application directly, some through a socket as raw bytes."""
    chance = random.Random(seed)  # noqa: S311
    index = PhraseIndex.create(folder / "index", CITIES, model=HashEncoder())
    raw = max(cases // _SOCKET_SHARE, 1)
    with _silent():
        failures = [*asyncio.run(_in_application(index, cases - raw, chance)), *_through_socket(index, raw, chance)]
    return Outcome(PROMISE, cases, tuple(failures))


def _keys() -> Keys:
    return Keys(admin=(sha256(ADMIN.encode()).digest(),))


async def _in_application(index: PhraseIndex, cases: int, chance: random.Random) -> list[str]:
    service = Service(ServiceSettings(index=index.folder.folder, keys=_keys()), index)
    app = create_app(service)
    failures = []
    for _ in range(cases):
        scope, body = _request(chance)
        try:
            status = str(await asyncio.wait_for(_status(app, scope, body), PATIENCE))
        except Exception as error:  # also a hang
            status = type(error).__name__
        if status in ("0", "500") or not status.isdecimal():
            failures.append(f"{status}: {scope['method']} {scope['path'][:_SHOWN]} {body[:_SHOWN]!r}")
    await service.stop()
    return failures


async def _status(app: Callable[..., Any], scope: dict[str, Any], body: bytes) -> int:
    """Of the response; 0 if there is none."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    statuses = [0]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()  # the client stays
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app(scope, receive, send)
    return statuses[-1]


def _request(chance: random.Random) -> tuple[dict[str, Any], bytes]:
    method, (path, body) = "POST", _mutated_body(chance)
    if chance.random() < 0.2:
        method, path = chance.choice(METHODS), chance.choice(PATHS)
    path, _, query = path.partition("?")
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    if chance.random() < 0.9:
        headers.append((b"authorization", b"Bearer " + ADMIN.encode()))
    if chance.random() < 0.2:
        name, _, value = chance.choice(HEADERS).partition(b":")
        headers.append((name.lower().strip(), value.strip()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    return scope, body


def _mutated_body(chance: random.Random) -> tuple[str, bytes]:
    path, template = chance.choice(BODIES)
    content = deepcopy(template)
    for _ in range(chance.randint(1, 3)):
        content = _mutated(content, chance)
    written = json.dumps(content).replace(
        '"deep"', "[" * 700 + "]" * 700 if chance.random() < 0.5 else '{"a":' * 700 + "1" + "}" * 700
    )
    body = written.encode()
    if chance.random() < 0.1:
        body = _spliced(body, chance)
    return path, body


def _mutated(content: Json, chance: random.Random) -> Json:
    """With one value, somewhere in it, replaced, removed, repeated or added."""
    if not isinstance(content, dict | list) or not content or chance.random() < 0.05:
        return deepcopy(chance.choice(ODD))
    key: Any = chance.choice(list(content)) if isinstance(content, dict) else chance.randrange(len(content))
    match chance.randrange(6):
        case 0:
            del content[key]
        case 1 if isinstance(content, dict):
            content[chance.choice(["", "x", "\ud800", "question", "id", "k"])] = deepcopy(chance.choice(ODD))
        case 2 if isinstance(content, list):
            content *= 2
        case 3:
            content[key] = deepcopy(chance.choice(ODD))
        case _:
            content[key] = _mutated(content[key], chance)
    return content


def _spliced(data: bytes, chance: random.Random) -> bytes:
    """With some bytes changed, cut out or repeated."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed) + 1)
        match chance.randrange(3):
            case 0:
                changed[place:place] = chance.randbytes(chance.randint(1, 5))
            case 1:
                del changed[place : place + chance.randint(1, 20)]
            case _:
                changed[place:place] = changed[place : place + chance.randint(1, 20)]
    return bytes(changed)


def _through_socket(index: PhraseIndex, cases: int, chance: random.Random) -> list[str]:
    failures = []
    with running(index.reopened(), keys=_keys(), deadline_seconds=1.0) as service:
        for first in range(0, cases, _AT_ONCE):
            requests = [_raw_request(chance) for _ in range(min(_AT_ONCE, cases - first))]
            replies = asyncio.run(_replies(service, requests))
            failures += [
                f"{problem}: {request[:_SHOWN]!r}"
                for request, problem in zip(requests, replies, strict=True)
                if problem
            ]
            if service.call("GET", "/healthz").status != 200:
                failures.append("the service does not answer any more")
    return failures


async def _replies(service: Running, requests: list[bytes]) -> list[str]:
    return await asyncio.gather(*(_problem(service.port, request) for request in requests))


async def _problem(port: int, request: bytes) -> str:
    """What is wrong with the replies to some bytes; nothing if the connection was closed without a 500."""
    reply = b""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(request)
                while block := await reader.read(1 << 16):
                    reply += block
            except ConnectionError:
                pass
            finally:
                writer.close()
    except TimeoutError:
        return "hangs"
    return "500" if b"HTTP/1.1 500" in reply else ""


def _raw_request(chance: random.Random) -> bytes:
    if chance.random() < 0.1:
        return chance.randbytes(chance.randint(0, 300)) + b"\r\n\r\n"
    path, body = _mutated_body(chance)
    if chance.random() < 0.5:
        path = chance.choice(PATHS)
    headers = [b"Host: 127.0.0.1", b"Content-Type: application/json", b"Authorization: Bearer " + ADMIN.encode()]
    headers += chance.sample(HEADERS, chance.randint(0, 3))
    if chance.random() < 0.4:
        headers.append(b"Transfer-Encoding: chunked")
        body = _chunked(body, chance)
    else:
        headers.append(b"Content-Length: %d" % (len(body) + chance.choice([0, 0, 0, -1, 1])))
    headers.append(b"Connection: close")
    chance.shuffle(headers)
    end = chance.choice([b"\r\n", b"\r\n", b"\r\n", b"\n"])
    version = chance.choice([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9", b""])
    first = b" ".join([chance.choice(METHODS).encode(), path.encode(), version])
    request = end.join([first, *headers, b"", b""]) + body
    return _spliced(request, chance) if chance.random() < 0.3 else request


def _chunked(body: bytes, chance: random.Random) -> bytes:
    sizes = [b"%x" % len(body)] * 4 + [b"0", b"-1", b"fffffffffffffffff", b"%x;a=b" % len(body), b"zz", b""]
    return chance.choice(sizes) + b"\r\n" + body + b"\r\n0\r\n" + chance.choice([b"", b"", b"X: y\r\n"]) + b"\r\n"


@contextmanager
def _silent() -> Iterator[None]:
    """Bad requests are logged, thousands of them."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
