"""Reading, adding and deleting documents."""

import errno
import os
from dataclasses import asdict
from typing import Any

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.keys import Keys
from tests.serve.running import ADMIN, CITIES, QUESTION, READING, Reply, Running, bearer, is_problem, running


def test_whole_documents(served: Running) -> None:
    for document in CITIES:
        reply = served.call("GET", f"/v1/documents/{document.id}")
        shown = {name: value for name, value in asdict(document).items() if name != "file"}
        assert reply.json == {**shown, "phrase": None}
    (answer,) = served.ask(k=1, documents=["tower"], unit="sentence").json["results"][0]["answers"]
    reply = served.call("GET", f"/v1/documents/tower?start={answer['start']}&end={answer['end']}")
    assert reply.json["phrase"] == {"text": answer["text"], "start": answer["start"], "end": answer["end"]}
    assert is_problem(served.call("GET", "/v1/documents/rome"), 404, "unknown_document")
    for query in ("start=3", "start=5&end=4", "start=0&end=1000", "start=-1&end=2", "start=a&end=2"):
        assert is_problem(served.call("GET", f"/v1/documents/tower?{query}"), 422, "invalid")


def test_adding_and_deleting(index: PhraseIndex, keys: Keys) -> None:
    rome = {"id": "rome", "text": "Rome is a city on the river.", "title": "Rome", "metadata": {"lang": "it"}}
    with running(index, keys=keys, reload_seconds=1000) as service:

        def change(method: str, path: str, content: Any = None) -> Reply:
            return service.call(method, path, content, bearer(ADMIN))

        added = change("POST", "/v1/documents", {"documents": [rome]})
        assert added.json == {"added": 1, "replaced": 0, "unchanged": 0, "documents": 4}
        asked = {"question": QUESTION, "where": {"lang": "it"}}
        found = service.call("POST", "/v1/answers", asked, bearer(READING)).json["results"][0]["answers"]
        assert {answer["document"]["id"] for answer in found} == {"rome"}
        again = change("POST", "/v1/documents", {"documents": [rome]})
        assert again.json == {"added": 0, "replaced": 0, "unchanged": 1, "documents": 4}
        other = {**rome, "text": "Rome was not built in a year."}
        assert is_problem(change("POST", "/v1/documents", {"documents": [other]}), 409, "other_content")
        replaced = change("POST", "/v1/documents", {"documents": [other], "replace": True})
        assert replaced.json == {"added": 0, "replaced": 1, "unchanged": 0, "documents": 4}
        unknown = change("DELETE", "/v1/documents?id=rome&id=oslo")
        assert is_problem(unknown, 404, "unknown_document")
        assert change("DELETE", "/v1/documents?id=rome&id=places/london").json == {"deleted": 2, "documents": 2}
        assert is_problem(service.call("GET", "/v1/documents/rome", headers=bearer(ADMIN)), 404, "unknown_document")
    assert index.reopened().check() == []


def nested(depth: int) -> dict[str, Any]:
    """Objects and lists in turn, an object outside."""
    values: Any = 1
    for level in reversed(range(depth)):
        values = [values] if level % 2 else {"a": values}
    return dict(values)


@pytest.mark.parametrize(
    "documents",
    [
        [],
        [{"id": "a"}],
        [{"id": "a", "text": "b"}, {"id": "a", "text": "c"}],
        [{"id": "a", "text": "b", "metadata": {"c": float("nan")}}],
        [{"id": "a", "text": "\ud800"}],
        [{"id": "\ud800", "text": "b"}],
        [{"id": "a", "text": "b", "title": "\udc00"}],
        [{"id": "a", "text": "b", "metadata": nested(33)}],
        [{"id": "a", "text": "b", "metadata": nested(700)}],
        [{}] * 100_000,
        [{"id": 1, "text": "b"}],
    ],
)
def test_unusable_documents(index: PhraseIndex, keys: Keys, documents: Any) -> None:
    with running(index, keys=keys) as service:
        reply = service.call("POST", "/v1/documents", {"documents": documents}, bearer(ADMIN))
        assert is_problem(reply, 422, "invalid")
    assert len(index.reopened()) == 3


def test_an_index_in_use(index: PhraseIndex, keys: Keys) -> None:
    from densephrases.index.files.lock import only_writer

    with running(index, keys=keys) as service, only_writer(index.folder.folder):
        reply = service.call("DELETE", "/v1/documents?id=paris", None, bearer(ADMIN))
        assert is_problem(reply, 409, "index_busy")
        assert reply.headers["retry-after"] == "5"


def test_a_full_disk(index: PhraseIndex, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reason, nothing left behind, and the same request works once there is space."""
    before = sorted(index.folder.folder.rglob("*"))
    sent = {"documents": [{"id": "rome", "text": "Rome is a city on the river."}]}
    fsync = os.fsync

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with running(index, keys=keys) as service:
        monkeypatch.setattr(os, "fsync", full)
        reply = service.call("POST", "/v1/documents", sent, bearer(ADMIN))
        assert is_problem(reply, 507, "disk_full")
        assert str(index.folder.folder) not in reply.body.decode()
        left = sorted(path for path in index.folder.folder.rglob("*"))
        assert left == before
        assert service.call("GET", "/healthz").status == 200
        monkeypatch.setattr(os, "fsync", fsync)
        assert service.call("POST", "/v1/documents", sent, bearer(ADMIN)).json["added"] == 1
    assert index.reopened().check() == []
