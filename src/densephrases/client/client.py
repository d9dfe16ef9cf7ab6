"""`Client` and `AsyncClient`: the methods of `PhraseIndex`, answered by a service."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import cached_property, partial
from typing import Any, Self, TypeVar, overload
from urllib.parse import quote, urlencode

from densephrases.client.http import Service
from densephrases.errors import DataError
from densephrases.index.folder import IndexInfo
from densephrases.index.progress import Progress
from densephrases.index.settings import IndexSettings
from densephrases.search.answers import Answer, PhrasePlace, SourceDocument
from densephrases.search.relations import QUESTION, Extraction, Fact
from densephrases.search.request import SearchRequest, search_request
from densephrases.text.documents import Document

_BODY_SHARE = 0.8  # of the largest body, for documents; the rest for what is around them

Result = TypeVar("Result")


class Client:
    """An index behind a service; a stand-in for `PhraseIndex` wherever documents are asked, added or deleted.

    >>> Client("http://127.0.0.1:8080").search("Where was Marie Curie born?")[0].text
    'Warsaw'

    Args:
        url: Where `densephrases serve` listens.
        api_key: One of the service's keys; to add or delete documents, an admin key.
        timeout: Seconds until a silent service is given up.
        retries: How often a request is repeated that a busy service has refused.
    """

    def __init__(self, url: str, api_key: str | None = None, *, timeout: float = 60.0, retries: int = 3) -> None:
        self._service = Service(url, api_key, timeout, retries)
        self._side: dict[str, str | None] = {}  # nothing said, the service asks with its own

    def with_task(self, task: str | None) -> Self:
        """The same service asked for another task of its model, None the default; this one stays as it is."""
        other = copy(self)
        other._side = {"task": task}
        return other

    @overload
    def search(self, questions: str, k: int = ..., **options: Any) -> list[Answer]: ...

    @overload
    def search(self, questions: Sequence[str], k: int = ..., **options: Any) -> list[list[Answer]]: ...

    def search(self, questions: str | Sequence[str], k: int = 10, **options: Any) -> list[Answer] | list[list[Answer]]:
        """The k best different answers to one question, or to each of several, best first."""
        several = [questions] if isinstance(questions, str) else list(questions)
        terms = _terms(search_request(None, k, options))
        found = [
            [_answer(values) for values in result["answers"]]
            for batch in self._batches(several)
            for result in self._service.call("POST", "/v1/answers", {"questions": batch, **terms, **self._side})[
                "results"
            ]
        ]
        return found[0] if isinstance(questions, str) else found

    def extract(
        self,
        subjects: Sequence[str],
        relation: str,
        *,
        template: str = QUESTION,
        prefer_titles: bool = True,
        min_confidence: float = 0.0,
    ) -> list[Fact]:
        """The object of a relation for each subject, with its sentence and its document."""
        how = Extraction(
            relation=relation, template=template, prefer_titles=prefer_titles, min_confidence=min_confidence
        )
        terms = {name: getattr(how, name) for name in ("relation", "template", "prefer_titles", "min_confidence")}
        return [
            Fact(result["subject"], relation, None if result["answer"] is None else _answer(result["answer"]))
            for batch in self._batches(list(subjects))
            for result in self._service.call("POST", "/v1/extract", {"subjects": batch, **terms, **self._side})[
                "results"
            ]
        ]

    def document(self, identifier: str) -> Document | None:
        """The document with this id, as it was indexed."""
        found = self._service.call("GET", f"/v1/documents/{quote(identifier, safe='')}")
        return None if found is None else Document(found["id"], found["text"], found["title"], found["metadata"])

    def add(self, documents: Iterable[Document]) -> Progress:
        """Add documents; those that are there already, unchanged, are passed over."""
        return self._send(documents, replace=False)

    def update(self, documents: Iterable[Document]) -> Progress:
        """Add documents, replacing those whose content has changed."""
        return self._send(documents, replace=True)

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents by their ids; if one is unknown, none is deleted."""
        wanted = sorted(set(ids))
        if not wanted:
            return 0
        done = self._service.call("DELETE", f"/v1/documents?{urlencode([('id', each) for each in wanted])}")
        if done is None:
            raise DataError(f"The index has no document with id {', '.join(map(repr, wanted[:3]))}; none was deleted.")
        return int(done["deleted"])

    def info(self) -> IndexInfo:
        facts = self._service.call("GET", "/v1/info")["index"]
        return IndexInfo(**{**facts, "settings": IndexSettings(**facts["settings"])})

    def __len__(self) -> int:
        """How many documents the index holds."""
        return self.info().documents

    def close(self) -> None:
        self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _limits(self) -> dict[str, int]:
        limits: dict[str, int] = self._service.call("GET", "/v1/info")["limits"]
        return limits

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        most = 1 if len(texts) == 1 else self._limits["questions"]
        for first in range(0, len(texts), most):
            yield texts[first : first + most]

    def _send(self, documents: Iterable[Document], *, replace: bool) -> Progress:
        """In as many requests as the service's limits need; the counts are of all of them."""
        began = time.monotonic()
        total = {"added": 0, "replaced": 0, "unchanged": 0}
        for batch in self._parcels(documents):
            done = self._service.call("POST", "/v1/documents", {"documents": batch, "replace": replace})
            total = {name: count + done[name] for name, count in total.items()}
        return Progress(
            documents=total["added"] + total["replaced"],
            replaced=total["replaced"],
            unchanged=total["unchanged"],
            seconds=time.monotonic() - began,
        )

    def _parcels(self, documents: Iterable[Document]) -> Iterator[list[dict[str, Any]]]:
        parcel: list[dict[str, Any]] = []
        size = 0
        for each in documents:
            values = {"id": each.id, "text": each.text, "title": each.title, "metadata": dict(each.metadata)}
            length = len(json.dumps(values))
            full = len(parcel) >= self._limits["documents"] or size + length > _BODY_SHARE * self._limits["body_bytes"]
            if parcel and full:
                yield parcel
                parcel, size = [], 0
            parcel.append(values)
            size += length
        if parcel:
            yield parcel


class AsyncClient:
    """The methods of `Client` to be awaited; each call takes a thread, at most `connections` at once.

    >>> async with AsyncClient("http://127.0.0.1:8080") as index:
    ...     answers = await index.search("Where was Marie Curie born?")
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
        connections: int = 32,
    ) -> None:
        self._client = Client(url, api_key, timeout=timeout, retries=retries)
        self._threads = ThreadPoolExecutor(connections, thread_name_prefix="densephrases-client")

    def with_task(self, task: str | None) -> Self:
        other = copy(self)
        other._client = self._client.with_task(task)
        return other

    @overload
    async def search(self, questions: str, k: int = ..., **options: Any) -> list[Answer]: ...

    @overload
    async def search(self, questions: Sequence[str], k: int = ..., **options: Any) -> list[list[Answer]]: ...

    async def search(
        self, questions: str | Sequence[str], k: int = 10, **options: Any
    ) -> list[Answer] | list[list[Answer]]:
        return await self._run(self._client.search, questions, k, **options)

    async def extract(self, subjects: Sequence[str], relation: str, **options: Any) -> list[Fact]:
        return await self._run(self._client.extract, subjects, relation, **options)

    async def document(self, identifier: str) -> Document | None:
        return await self._run(self._client.document, identifier)

    async def add(self, documents: Iterable[Document]) -> Progress:
        return await self._run(self._client.add, documents)

    async def update(self, documents: Iterable[Document]) -> Progress:
        return await self._run(self._client.update, documents)

    async def delete(self, ids: Iterable[str]) -> int:
        return await self._run(self._client.delete, ids)

    async def info(self) -> IndexInfo:
        return await self._run(self._client.info)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, call: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
        work = partial(call, *arguments, **options)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _terms(request: SearchRequest) -> dict[str, Any]:
    terms: dict[str, Any] = {
        "k": request.k,
        "unit": request.unit,
        "min_confidence": request.min_confidence,
        "effort": request.effort,
        "exact": request.exact,
        "truecase": request.truecase,
    }
    if request.lexical_weight is not None:
        terms["words"] = request.lexical_weight
    if request.where is not None:
        terms["where"] = {key: _listed(value) for key, value in request.where.items()}
    if request.documents is not None:
        terms["documents"] = list(request.documents)
    return terms


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple | set | frozenset) else value


def _answer(values: dict[str, Any]) -> Answer:
    parts = {"document": SourceDocument(**values["document"]), "phrase": PhrasePlace(**values["phrase"])}
    return Answer(**{**values, **parts})
