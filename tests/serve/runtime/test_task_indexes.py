"""One index asked with several query encoders."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.runtime.task_indexes import TaskIndexes
from tests.serve.running import CITIES, QUESTION, GatedEncoder, Running, TwoTasks, running


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    return PhraseIndex.create(tmp_path / "index", CITIES, model=TwoTasks())


@pytest.fixture
def service(index: PhraseIndex) -> Iterator[Running]:
    with running(index) as service:
        yield service


def found(service: Running, **terms: Any) -> list[float]:
    return [answer["score"] for answer in service.ask(k=3, **terms).json["results"][0]["answers"]]


def test_a_side_by_its_name(service: Running, index: PhraseIndex) -> None:
    other = index.with_task("upside-down").search(QUESTION, 3)
    assert found(service) == found(service, task=None) != found(service, task="upside-down")
    assert found(service, task="upside-down") == [answer.score for answer in other]


def test_facts_by_a_side(service: Running, index: PhraseIndex) -> None:
    sent = {"subjects": ["London"], "relation": "river", "task": "upside-down"}
    (fact,) = index.with_task("upside-down").extract(["London"], "river")
    assert service.call("POST", "/v1/extract", sent).json["results"][0]["object"] == fact.object


def test_the_side_of_the_service(index: PhraseIndex) -> None:
    with running(index.with_task("upside-down"), task="upside-down") as service:
        assert found(service) == found(service, task="upside-down") != found(service, task=None)
        facts = service.call("GET", "/v1/info").json
        assert (facts["task"], facts["tasks"]) == ("upside-down", ["upside-down"])


def test_unknown_sides(service: Running, tmp_path: Path) -> None:
    reply = service.ask(task="../secret")
    assert (reply.status, reply.json["code"]) == (422, "invalid")
    assert reply.json["detail"] == "The model has no such task: it has 'upside-down'."
    with running(PhraseIndex.create(tmp_path / "plain", CITIES, model=GatedEncoder())) as plain:
        assert "only its default query encoder" in plain.ask(task="web").json["detail"]
        assert plain.ask(task=None).status == 200


def test_a_side_is_loaded_once(index: PhraseIndex) -> None:
    indexes, encoder = TaskIndexes(None), index.encoder
    assert isinstance(encoder, TwoTasks)
    assert indexes.for_task(index, None) is index
    asked = indexes.for_task(index, "upside-down")
    assert indexes.for_task(index, "upside-down") is asked
    changed = index.reopened()
    later = indexes.for_task(changed, "upside-down")
    assert isinstance(later, PhraseIndex)
    assert later.folder is changed.folder
    assert later.encoder is asked.encoder
    assert encoder.loaded == 1
