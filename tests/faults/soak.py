"""A service in a process of its own under ten times its load: right answers, no 500, flat memory, and an end."""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.searcher import QUESTIONS_AT_ONCE
from tests.faults.outcome import Outcome
from tests.index.made_up import HashEncoder
from tests.serve.own_process import ADMIN, OwnProcess, own_process
from tests.serve.running import CITIES

PROMISE = "A service under ten times its load gives right answers or says why not, keeps its memory flat, and stops"
QUESTIONS = ["where is the river?", "who built the tower?", "when was it built?", "what is in France?"]
QUEUE = 16  # questions that may wait
ASKED = 8  # questions in a request
CAPACITY = (QUESTIONS_AT_ONCE + QUEUE) // ASKED  # requests in the batch that is searched and in the queue
CLIENTS = 10 * CAPACITY
DEADLINE = 2.0
PATIENCE = 60.0  # seconds after which a request counts as hanging
_GROWTH, _SLACK_BYTES = 1.25, 40 << 20
_WARM = 4  # memory is measured first after one in so many cases
_REFUSED = {503}
_SHOWN = 20

Reply = tuple[int, Any]


@dataclass
class _Soak:
    """What is known of the service, and what went wrong."""

    port: int
    expected: dict[str, list[str]]
    failures: list[str] = field(default_factory=list)
    present: dict[str, bool] = field(default_factory=dict)  # of documents whose fate is known
    answered: int = 0

    async def one(self, number: int, chance: random.Random) -> None:
        kind = chance.choices([_search, _thorough, _add, _delete, _bad, _read, _abort, _drip], _WEIGHTS)[0]
        try:
            async with asyncio.timeout(PATIENCE):
                await kind(self, number, chance)
        except TimeoutError:
            self.failures.append(f"request {number} ({kind.__name__}) hangs")
        except (OSError, EOFError, ValueError) as error:
            self.failures.append(f"request {number} ({kind.__name__}) got no reply: {error!r}")

    async def call(self, method: str, path: str, content: Any = None) -> Reply:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(_request(method, path, content))
            return _parsed(await reader.read(-1))
        finally:
            writer.close()

    def expect(self, reply: Reply, allowed: set[int], request: str) -> bool:
        """Whether it was done; a refusal because of the load is no failure."""
        if reply[0] not in allowed | _REFUSED:
            self.failures.append(f"{request}: {reply[0]} {str(reply[1])[:200]}")
        return reply[0] == 200


async def _search(soak: _Soak, number: int, chance: random.Random) -> None:
    await _asked(soak, chance.choices(QUESTIONS, k=ASKED), {})


async def _thorough(soak: _Soak, number: int, chance: random.Random) -> None:
    await _asked(soak, chance.choices(QUESTIONS, k=ASKED), {"exact": True, "effort": 1})


async def _asked(soak: _Soak, questions: list[str], options: dict[str, Any]) -> None:
    """Of the documents that stay."""
    content = {"questions": questions, "k": 3, "documents": [each.id for each in CITIES], **options}
    reply = await soak.call("POST", "/v1/answers", content)
    if not soak.expect(reply, {200}, "questions"):
        return
    soak.answered += 1
    for question, result in zip(questions, reply[1]["results"], strict=True):
        found = [answer["text"] for answer in result["answers"]]
        if found != soak.expected[question]:
            soak.failures.append(f"{question}: {found} instead of {soak.expected[question]}")


async def _add(soak: _Soak, number: int, chance: random.Random) -> None:
    document = {"id": f"new-{number}", "text": f"The river of {number} is in a city.", "metadata": {"n": number}}
    soak.present.pop(document["id"], None)  # type: ignore[call-overload]
    if soak.expect(await soak.call("POST", "/v1/documents", {"documents": [document]}), {200, 409}, "add"):
        soak.present[f"new-{number}"] = True


async def _delete(soak: _Soak, number: int, chance: random.Random) -> None:
    known = [identifier for identifier, present in soak.present.items() if present]
    if not known:
        return
    identifier = chance.choice(known)
    del soak.present[identifier]  # nobody else deletes it, and its fate is open
    if soak.expect(await soak.call("DELETE", f"/v1/documents?id={identifier}"), {200, 409}, "delete"):
        soak.present[identifier] = False


async def _bad(soak: _Soak, number: int, chance: random.Random) -> None:
    contents: list[Any] = [
        {},
        [],
        {"question": ""},
        {"question": "a", "k": 0},
        {"question": "a", "x": 1},
        {"questions": [1]},
    ]
    soak.expect(await soak.call("POST", "/v1/answers", chance.choice(contents)), {422}, "bad request")


async def _read(soak: _Soak, number: int, chance: random.Random) -> None:
    path = chance.choice(["/healthz", "/v1/info", "/metrics", "/v1/documents/paris", "/openapi.json"])
    reply = await soak.call("GET", path)
    if reply[0] != 200:
        soak.failures.append(f"{path}: {reply[0]}")


async def _abort(soak: _Soak, number: int, chance: random.Random) -> None:
    """Leave without reading the answer."""
    _, writer = await asyncio.open_connection("127.0.0.1", soak.port)
    writer.write(_request("POST", "/v1/answers", {"question": chance.choice(QUESTIONS)}))
    await asyncio.sleep(chance.random() / 50)
    writer.transport.abort()


async def _drip(soak: _Soak, number: int, chance: random.Random) -> None:
    """A body that never ends, byte by byte."""
    reader, writer = await asyncio.open_connection("127.0.0.1", soak.port)
    try:
        writer.write(
            _request("POST", "/v1/answers", {"question": "a"}).replace(b"Content-Length: ", b"Content-Length: 9")
        )
        reading = asyncio.ensure_future(reader.read(-1))
        while not reading.done():
            writer.write(b" ")
            await asyncio.wait([reading], timeout=0.2)
        soak.expect(_parsed(reading.result()), {408}, "slow body")
    except ConnectionError:
        pass  # its end came before the reply was read
    finally:
        writer.close()


_WEIGHTS = [66, 4, 1, 0.5, 12, 10, 5, 1.5]


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    index = PhraseIndex.create(folder / "index", CITIES, model=HashEncoder())
    ids = [each.id for each in CITIES]
    expected = {each: [answer.text for answer in index.search(each, 3, documents=ids)] for each in QUESTIONS}
    with own_process(index.folder.folder, deadline=DEADLINE, queue=QUEUE) as service:
        soak = _Soak(service.port, expected)
        warm = max(cases // _WARM, 1)
        asyncio.run(_soaked(soak, range(warm), seed))
        before = _memory(service)
        asyncio.run(_soaked(soak, range(warm, cases), seed))
        _check_memory(soak, before, _memory(service))
        _check_documents(soak, service)
        _check_end(soak, service)
    if not soak.answered:
        soak.failures.append("no question at all was answered")
    return Outcome(PROMISE, cases, tuple(soak.failures[:_SHOWN]))


async def _soaked(soak: _Soak, numbers: Sequence[int], seed: int) -> None:
    """All requests, by clients that send the next one as soon as they have the reply to the last."""
    left = iter(numbers)

    async def client() -> None:
        for number in left:
            await soak.one(number, random.Random(f"{seed} {number}"))  # noqa: S311

    await asyncio.gather(*(client() for _ in range(CLIENTS)))


def _memory(service: OwnProcess) -> int:
    """Resident bytes; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    lines = Path(f"/proc/{service.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS"))


def _check_memory(soak: _Soak, before: int, after: int) -> None:
    if after > _GROWTH * before + _SLACK_BYTES:
        soak.failures.append(f"memory grew from {before >> 20} to {after >> 20} MiB")


def _check_documents(soak: _Soak, service: OwnProcess) -> None:
    """What was acknowledged is there, and the service answers."""
    for identifier, present in soak.present.items():
        status, _ = service.call(f"/v1/documents/{identifier}")
        if status != (200 if present else 404):
            soak.failures.append(
                f"document {identifier}: {status}, though its {'addition' if present else 'deletion'} was acknowledged"
            )
    for question in QUESTIONS:
        if service.ask(question)[0] != 200:
            soak.failures.append(f"{question}: no answer after the load")


def _check_end(soak: _Soak, service: OwnProcess) -> None:
    try:
        code = service.stop()
    except subprocess.TimeoutExpired:
        soak.failures.append("SIGTERM did not end the service")
    else:
        if code:
            soak.failures.append(f"the service ended with exit code {code}")


def _request(method: str, path: str, content: Any) -> bytes:
    body = b"" if content is None else json.dumps(content).encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {ADMIN}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _parsed(reply: bytes) -> Reply:
    head, _, body = reply.partition(b"\r\n\r\n")
    if not head:
        raise EOFError("the connection was closed without a reply")
    return int(head.split(b" ", 2)[1]), json.loads(body) if b"json" in head else body
