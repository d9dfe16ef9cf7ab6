"""Which calls a method makes, without any service."""

from typing import Any

import pytest

from densephrases.client.http import Call
from densephrases.client.operations import Calls, Operations, Result
from densephrases.errors import DataError
from densephrases.search.facts.relations import RelationQuery
from densephrases.search.request import SearchRequest
from densephrases.text.documents import Document

LIMITS = {"questions": 2, "documents": 3, "body_bytes": 1000}


def carried_out(calls: Calls[Result]) -> tuple[list[Call], Result]:
    """The calls of a method, and its result when every reply is empty."""
    made: list[Call] = []
    reply: Any = None
    try:
        while True:
            made.append(calls.send(reply))
            reply = {"limits": LIMITS, "results": [], "added": 1, "replaced": 0, "unchanged": 0, "deleted": 1}
    except StopIteration as done:
        return made, done.value


def test_only_options_that_differ_are_sent() -> None:
    (call,), _ = carried_out(Operations().search(["a"], SearchRequest()))
    assert call == Call("POST", "/v1/answers", {"questions": ["a"]})
    request = SearchRequest(k=3, where={"a": {"b"}, "c": 1}, documents=iter(["d"]), exact=False, truecase=False)
    (call,), _ = carried_out(Operations().search(["a"], request))
    expected = {"k": 3, "where": {"a": ["b"], "c": 1}, "documents": ["d"], "exact": False, "truecase": False}
    assert call.content == {"questions": ["a"], **expected}
    (call,), _ = carried_out(Operations().extract(["a"], RelationQuery(relation="b")))
    assert call == Call("POST", "/v1/extract", {"subjects": ["a"], "relation": "b"})


def test_tasks() -> None:
    """None is a task: the model's default one."""
    for task in ("web", None):
        (call,), _ = carried_out(Operations().with_task(task).search(["a"], SearchRequest()))
        assert call.content == {"questions": ["a"], "task": task}


def test_questions_in_batches() -> None:
    """The limits are read once, and only if they matter."""
    operations = Operations()
    calls, _ = carried_out(operations.search(["a", "b", "c"], SearchRequest()))
    assert [call.path for call in calls] == ["/v1/info", "/v1/answers", "/v1/answers"]
    assert [call.content["questions"] for call in calls[1:]] == [["a", "b"], ["c"]]
    again, _ = carried_out(operations.with_task("web").search(["a", "b"], SearchRequest()))
    assert len(again) == 1
    assert carried_out(operations.search([], SearchRequest())) == ([], [])


@pytest.mark.parametrize(("length", "sizes"), [(1, [3, 3, 1]), (500, [1] * 7)])
def test_documents_in_batches(length: int, sizes: list[int]) -> None:
    documents = (Document(str(number), "a" * length) for number in range(7))
    calls, done = carried_out(Operations().add(documents, replace=True))
    assert [len(call.content["documents"]) for call in calls[1:]] == sizes
    assert all(call.content["replace"] for call in calls[1:])
    assert done.documents == len(sizes)


def test_ids_are_escaped() -> None:
    calls = Operations().document("../a b?")
    assert next(calls) == Call("GET", "/v1/documents/%2E%2E%2Fa%20b%3F")
    (call,), deleted = carried_out(Operations().delete(["b&", "a", "a"]))
    assert (call, deleted) == (Call("DELETE", "/v1/documents?id=a&id=b%26", changes=True), 1)


def test_unknown_documents() -> None:
    calls = Operations().delete(["a"])
    next(calls)
    with pytest.raises(DataError, match="no document with id 'a'; none was deleted"):
        calls.send(None)
