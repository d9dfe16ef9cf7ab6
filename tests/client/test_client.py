"""The same answers from a service as from the index itself."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from densephrases import AsyncClient, Client
from densephrases.errors import ConfigError, DataError, ServiceError
from densephrases.search.answering_index import AnsweringIndex
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from densephrases.serve.settings import Limits
from densephrases.text.documents import Document
from tests.serve.running import CITIES, QUESTION, GatedEncoder, ReadingEncoder, Running, TwoTasks, running

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
        {"where": {"year": {">=": 1800, "<": 1900}}},
        {"lexical_weight": 2.0},
        {"explain": True},
        {"overlapping": True},
        {"unit": "auto"},
    ],
)
def test_search(client: Client, index: PhraseIndex, options: Any) -> None:
    assert client.search(QUESTION, 4, **options) == index.search(QUESTION, 4, **options)


def test_verified_answers(tmp_path: Path) -> None:
    index = PhraseIndex.create(tmp_path / "index", CITIES, model=ReadingEncoder())
    with running(index) as service, Client(f"http://127.0.0.1:{service.port}/") as client:
        for verify in (0, 2, "auto"):
            found = client.search(QUESTION, 4, verify=verify)
            assert found == index.search(QUESTION, 4, verify=verify)
            assert found[0].verified is bool(verify)


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
    for unknown in ("rome", "..", ".", "a.b/../%2e?#"):
        assert client.document(unknown) is None
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
            expected = index.search(QUESTION, 3)
            for found in answers:  # in batches of other sizes, whose sums may differ in their last digits
                assert [(a.text, a.start, a.document) for a in found] == [
                    (a.text, a.start, a.document) for a in expected
                ]
                assert [a.score for a in found] == pytest.approx([a.score for a in expected], abs=1e-5)
            assert await client.document("paris") == CITIES[2]
            assert (await client.add([Document("rome", "Rome is a city.")])).documents == 1
            assert (await client.update([Document("rome", "Rome is old.")])).replaced == 1
            assert (await client.info()).documents == 4
            assert await client.delete(["rome"]) == 1
            assert [fact.subject for fact in await client.extract(["Paris"], "river")] == ["Paris"]

    asyncio.run(run())


def test_another_side(tmp_path: Path) -> None:
    index = PhraseIndex.create(tmp_path / "index", CITIES, model=TwoTasks())
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
        "folder",
        "open",
        "optimize",
        "refresh",
        "reopened",
        "hold",
        "check",
        "disk_usage",
        "searcher",
        "fit",
        "sync",
        "roots",
        "documents",
        *("path", "vectors", "sample", "state", "with_encoder"),
    }
    public = {name for name in (*vars(PhraseIndex), *vars(AnsweringIndex)) if not name.startswith("_")} - about_folders
    assert public <= set(dir(Client))
    assert public <= set(dir(AsyncClient))


def test_refusals(service: Running) -> None:
    with Client(f"http://127.0.0.1:{service.port}") as client:
        with pytest.raises(
            ServiceError, match=r"Changing the index needs an admin key; .* \(status 401, request [0-9a-f]{32}\)"
        ):
            client.delete(["paris"])
        with pytest.raises(ServiceError, match=r"k=101; this service takes at most 100 \(limit: k\)"):
            client.search(QUESTION, 101)
        with pytest.raises(ConfigError, match="k=0"):
            client.search(QUESTION, 0)


def test_threads_share_a_client(client: Client, index: PhraseIndex) -> None:
    expected = index.search(QUESTION, 3)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: client.search(QUESTION, 3), range(20)))
    assert all(each == expected for each in found)
