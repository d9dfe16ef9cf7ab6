"""The same answers from a service as from the index itself."""

import asyncio
import http.server
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from densephrases import AsyncClient, Client
from densephrases.errors import ConfigError, DataError, ServiceError
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from densephrases.serve.settings import Limits
from densephrases.text.documents import Document
from tests.serve.running import CITIES, QUESTION, GatedEncoder, Running, TwoSides, running

ADMIN = "a-key-for-administration"


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    return PhraseIndex.create(tmp_path / "index", CITIES, model=GatedEncoder())


@pytest.fixture
def service(index: PhraseIndex, tmp_path: Path) -> Iterator[Running]:
    (tmp_path / "keys").write_text(ADMIN)
    keys = Keys.read(None, tmp_path / "keys")
    with running(index, keys=keys, limits=Limits(questions=2, documents=5, body_bytes=2000)) as served:
        yield served


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{service.port}/", ADMIN) as made:
        yield made


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"unit": "sentence"},
        {"unit": "document", "where": {"lang": ("en", "de")}},
        {"documents": {"tower", "paris"}, "effort": 1.0},
        {"where": {"year": 1889}, "exact": True},
        {"lexical_weight": 2.0},
    ],
)
def test_search(client: Client, index: PhraseIndex, options: Any) -> None:
    assert client.search(QUESTION, 4, **options) == index.search(QUESTION, 4, **options)


def test_more_questions_than_a_request_takes(client: Client, index: PhraseIndex) -> None:
    questions = [QUESTION, "who?", "what is it?", "when?", "where?"]
    found = client.search(questions, k=2)
    assert [[a.text for a in answers] for answers in found] == [
        [a.text for batch in index.search([question], k=2) for a in batch] for question in questions
    ]
    assert client.search([]) == []


def test_documents(client: Client, index: PhraseIndex) -> None:
    for document in CITIES:
        assert client.document(document.id) == document
    assert client.document("rome") is None
    assert client.info() == index.info()
    assert len(client) == 3


def test_changes(client: Client) -> None:
    long = [
        Document(f"ids/{number} ?&ü", "The river is in a city. " * 20, "River", {"n": number}) for number in range(5)
    ]
    assert client.add(iter(long)).documents == 5
    assert client.document(long[3].id) == long[3]
    again = client.update([*long[:2], Document(long[2].id, "It is not.")])
    assert (again.documents, again.replaced, again.unchanged) == (1, 1, 2)
    assert client.delete(document.id for document in long) == 5
    assert client.delete([]) == 0
    with pytest.raises(DataError, match="no document with id 'rome'"):
        client.delete(["rome"])
    assert len(client) == 3


def test_facts(client: Client, index: PhraseIndex) -> None:
    found = client.extract(["London", "Paris", "Tower"], "river")
    assert [(fact.subject, fact.object) for fact in found] == [
        (fact.subject, fact.object) for name in ("London", "Paris", "Tower") for fact in index.extract([name], "river")
    ]


def test_the_asynchronous_client(service: Running, index: PhraseIndex) -> None:
    async def run() -> None:
        async with AsyncClient(f"http://127.0.0.1:{service.port}", ADMIN) as client:
            answers = await asyncio.gather(*(client.search(QUESTION, k=3) for _ in range(20)))
            assert all(each == index.search(QUESTION, 3) for each in answers)
            assert await client.document("paris") == CITIES[2]
            assert (await client.add([Document("rome", "Rome is a city.")])).documents == 1
            assert (await client.update([Document("rome", "Rome is old.")])).replaced == 1
            assert (await client.info()).documents == 4
            assert await client.delete(["rome"]) == 1
            assert [fact.subject for fact in await client.extract(["Paris"], "river")] == ["Paris"]

    asyncio.run(run())


def test_another_side(tmp_path: Path) -> None:
    index = PhraseIndex.create(tmp_path / "index", CITIES, model=TwoSides())
    expected = index.with_task("upside-down").search(QUESTION, 3)
    with running(index) as served, Client(f"http://127.0.0.1:{served.port}") as client:
        assert client.with_task("upside-down").search(QUESTION, 3) == expected
        assert client.search(QUESTION, 3) == client.with_task(None).search(QUESTION, 3) == index.search(QUESTION, 3)
        other = client.with_task("upside-down")
        assert other.extract(["London"], "river") == index.with_task("upside-down").extract(["London"], "river")

        async def ask() -> list[Answer]:
            async with AsyncClient(f"http://127.0.0.1:{served.port}") as asynchronous:
                return await asynchronous.with_task("upside-down").search(QUESTION, 3)

        assert asyncio.run(ask()) == expected


def test_every_method_of_an_index_that_concerns_documents() -> None:
    """What the others do happens where the folder is."""
    about_folders = {
        "create",
        "open",
        "optimize",
        "refresh",
        "reopened",
        "hold",
        "check",
        "storage",
        "searcher",
        "fit",
    }
    public = {name for name in vars(PhraseIndex) if not name.startswith("_")} - about_folders
    assert public <= set(dir(Client))
    assert public <= set(dir(AsyncClient))


def test_refusals(service: Running) -> None:
    with Client(f"http://127.0.0.1:{service.port}") as client:
        with pytest.raises(ServiceError, match=r"Only holders of an admin key .* \(status 401, request [0-9a-f]{32}\)"):
            client.delete(["paris"])
        with pytest.raises(ServiceError, match=r"k=101; this service takes at most 100 \(limit: k\)"):
            client.search(QUESTION, 101)
        with pytest.raises(ConfigError, match="k=0"):
            client.search(QUESTION, 0)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://127.0.0.1", "http://"])
def test_bad_addresses(url: str) -> None:
    with pytest.raises(ConfigError, match="no address of a service"):
        Client(url)


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ServiceError, match=rf"'http://127.0.0.1:{port}' cannot be reached: Connection refused"):
        Client(f"http://127.0.0.1:{port}").info()


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


def test_something_else_there(scripted: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, replies = scripted
    replies += [(200, b"<html>")]
    with Client(url) as client, pytest.raises(ServiceError, match="answered 200 and no JSON"):
        client.document("a")
