"""What each method of a client sends and what it makes of the replies; `Client` and `AsyncClient` carry it out."""

import json
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode

from densephrases.client.http import Call
from densephrases.errors import DataError
from densephrases.index.info import IndexInfo
from densephrases.index.progress import Progress
from densephrases.index.settings import IndexSettings
from densephrases.search.answers import Alternative, Answer, AnswerList, PhraseSpan, SourceDocument
from densephrases.search.explain.evidence import Evidence
from densephrases.search.explain.explanation import Explanation
from densephrases.search.facts.relations import Fact, RelationQuery
from densephrases.search.request import SearchRequest
from densephrases.text.documents import Document

_BODY_SHARE = 0.8  # of the largest body, for documents; the rest for what is around them

Result = TypeVar("Result")
Calls = Generator[Call, Any, Result]
"""Yields calls, is sent the JSON of each reply, and returns a result."""


class Operations:
    """The calls of each method; requests are as large as the service's limits allow."""

    def __init__(self) -> None:
        self._task: dict[str, str | None] = {}  # empty: the service uses its own
        self._limits: dict[str, int] | None = None

    def with_task(self, task: str | None) -> Self:
        other = type(self)()
        other._task = {"task": task}
        other._limits = self._limits
        return other

    def search(self, questions: Sequence[str], request: SearchRequest) -> Calls[list[AnswerList]]:
        results = yield from self._in_batches("/v1/answers", "questions", questions, _non_default(request))
        return [
            AnswerList(map(_answer, result["answers"]), complete=result.get("complete", True))  # older services lack it
            for result in results
        ]

    def extract(self, subjects: Sequence[str], query: RelationQuery) -> Calls[list[Fact]]:
        results = yield from self._in_batches("/v1/extract", "subjects", subjects, _non_default(query))
        return [
            Fact(result["subject"], result["relation"], None if result["answer"] is None else _answer(result["answer"]))
            for result in results
        ]

    def document(self, identifier: str) -> Calls[Document | None]:
        escaped = quote(identifier, safe="").replace(".", "%2E")  # else '..' would lead to another address
        found = yield Call("GET", f"/v1/documents/{escaped}")
        return None if found is None else Document(found["id"], found["text"], found["title"], found["metadata"])

    def add(self, documents: Iterable[Document], *, replace: bool) -> Calls[Progress]:
        """In as many requests as the service's limits need; the counts are of all of them."""
        began = time.monotonic()
        limits = yield from self._known_limits()
        total = {"added": 0, "replaced": 0, "unchanged": 0}
        for batch in _document_batches(documents, limits):
            done = yield Call("POST", "/v1/documents", {"documents": batch, "replace": replace}, changes=True)
            total = {name: count + done[name] for name, count in total.items()}
        return Progress(
            documents=total["added"] + total["replaced"],
            replaced=total["replaced"],
            unchanged=total["unchanged"],
            seconds=time.monotonic() - began,
        )

    def delete(self, ids: Iterable[str]) -> Calls[int]:
        wanted = sorted(set(ids))
        if not wanted:
            return 0
        done = yield Call("DELETE", f"/v1/documents?{urlencode([('id', each) for each in wanted])}", changes=True)
        if done is None:
            raise DataError(f"The index has no document with id {', '.join(map(repr, wanted[:3]))}; none was deleted.")
        return int(done["deleted"])

    def info(self) -> Calls[IndexInfo]:
        reply = yield Call("GET", "/v1/info")
        index = reply["index"]
        return IndexInfo(**{**index, "settings": IndexSettings(**index["settings"])})

    def _known_limits(self) -> Calls[dict[str, int]]:
        if self._limits is None:
            reply = yield Call("GET", "/v1/info")
            self._limits = reply["limits"]
        assert self._limits is not None
        return self._limits

    def _in_batches(
        self, path: str, name: str, texts: Sequence[str], options: dict[str, Any]
    ) -> Calls[list[dict[str, Any]]]:
        """The results for all texts, which are sent under `name`."""
        size = 1 if len(texts) <= 1 else (yield from self._known_limits())["questions"]
        results: list[dict[str, Any]] = []
        for first in range(0, len(texts), size):
            batch = list(texts[first : first + size])
            reply = yield Call("POST", path, {name: batch, **options, **self._task})
            results += reply["results"]
        return results


def _document_batches(
    documents: Iterable[Document], limits: dict[str, int]
) -> Generator[list[dict[str, Any]], None, None]:
    batch: list[dict[str, Any]] = []
    size = 0
    for each in documents:
        values = {"id": each.id, "text": each.text, "title": each.title, "metadata": dict(each.metadata)}
        length = len(json.dumps(values))
        if batch and (len(batch) >= limits["documents"] or size + length > _BODY_SHARE * limits["body_bytes"]):
            yield batch
            batch, size = [], 0
        batch.append(values)
        size += length
    if batch:
        yield batch


def _non_default(options: SearchRequest | RelationQuery) -> dict[str, Any]:
    """The fields of a dataclass that differ from their defaults, as JSON."""
    values = {field.name: (getattr(options, field.name), field.default) for field in fields(options)}
    return {name: _as_json(value) for name, (value, default) in values.items() if value != default}


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_json(each) for key, each in value.items()}
    return list(value) if isinstance(value, list | tuple | set | frozenset) else value


def _explanation(values: dict[str, Any]) -> Explanation:
    words = {name: tuple(values[name]) for name in ("matched", "missing")}
    return Explanation(**{**values, **words, "evidence": Evidence(**values["evidence"])})


def _answer(values: dict[str, Any]) -> Answer:
    parts: dict[str, Any] = {
        "document": SourceDocument(**values["document"]),
        "phrase": PhraseSpan(**values["phrase"]),
    }
    for name in ("alternatives", "items"):
        parts[name] = tuple(Alternative(**each) for each in values.get(name, ()))
    if (why := values.get("explanation")) is not None:
        parts["explanation"] = _explanation(why)
    return Answer(**{**values, **parts})
