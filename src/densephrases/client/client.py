"""`Client` and `AsyncClient`: the methods of `PhraseIndex`, answered by a service."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Self, overload

from densephrases.client.http import LONGEST_WAIT, Address, AsyncConnection, Connection
from densephrases.client.operations import Calls, Operations, Result
from densephrases.index.info import IndexInfo
from densephrases.index.progress import Progress
from densephrases.search.answers import AnswerList
from densephrases.search.facts.relations import Fact, RelationQuery
from densephrases.search.request import SearchRequest, checked_questions, search_request
from densephrases.text.documents import Document


class Client:
    """An index behind a service; it stands in for `PhraseIndex` wherever documents are searched, added or deleted.

    Examples:
        >>> Client("http://127.0.0.1:8080").search("Where was Marie Curie born?")[0].text
        'Warsaw'

    Args:
        url: Where `densephrases serve` listens.
        api_key: One of the service's keys; to add or delete documents, an admin key.
        timeout: Seconds without a byte from the service after which a call fails.
        retries: How often a request is repeated after a 429 or 503; a change only if it was not begun.
        longest_wait: Most seconds to wait before a repetition, whatever the service asks for.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
        longest_wait: float = LONGEST_WAIT,
    ) -> None:
        self._connection = Connection(Address(url, api_key, timeout, retries, longest_wait))
        self._operations = Operations()

    def with_task(self, task: str | None) -> Self:
        """The same service with the query encoder of another task, None the default; this client stays as it is."""
        other = copy(self)
        other._operations = self._operations.with_task(task)
        return other

    @overload
    def search(
        self, questions: str, k: int | None = ..., *, request: SearchRequest | None = ..., **options: Any
    ) -> AnswerList: ...

    @overload
    def search(
        self, questions: Sequence[str], k: int | None = ..., *, request: SearchRequest | None = ..., **options: Any
    ) -> list[AnswerList]: ...

    def search(
        self,
        questions: str | Sequence[str],
        k: int | None = None,
        *,
        request: SearchRequest | None = None,
        **options: Any,
    ) -> AnswerList | list[AnswerList]:
        """The best distinct answers to one question, or to each of several, best first.

        Args:
            questions: One question, or several, which are sent in as few requests as the service allows.
            k: Number of answers per question, 5 by default; fewer only if the collection has fewer.
            request: All options in one object; the default is `SearchRequest()`.
            options: Fields of `SearchRequest`, such as `unit="sentence"`; they override those of `request`.
        """
        several = checked_questions(questions)
        found = self._run(self._operations.search(several, search_request(request, k, options)))
        return found[0] if isinstance(questions, str) else found

    def extract(
        self,
        subjects: Sequence[str],
        relation: str,
        *,
        template: str | None = None,
        prefer_titles: bool = True,
        min_confidence: float | None = None,
        anywhere: bool = False,
        aliases: Mapping[str, Sequence[str]] | None = None,
    ) -> list[Fact]:
        """The object of a relation for each subject, with its sentence and its document."""
        query = RelationQuery(
            relation=relation,
            template=template,
            prefer_titles=prefer_titles,
            min_confidence=min_confidence,
            anywhere=anywhere,
            aliases=aliases,
        )
        return self._run(self._operations.extract(subjects, query))

    def document(self, identifier: str) -> Document | None:
        """The document with this id, as it was indexed; None if there is none."""
        return self._run(self._operations.document(identifier))

    def add(self, documents: Iterable[Document]) -> Progress:
        """Add documents; those that are already there with the same content are skipped."""
        return self._run(self._operations.add(documents, replace=False))

    def update(self, documents: Iterable[Document]) -> Progress:
        """Add documents, replacing those whose content has changed."""
        return self._run(self._operations.add(documents, replace=True))

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents by their ids; if one is unknown, none is deleted."""
        return self._run(self._operations.delete(ids))

    def info(self) -> IndexInfo:
        """What the index of the service contains, and how it was made."""
        return self._run(self._operations.info())

    def __len__(self) -> int:
        """How many documents the index holds."""
        return self.info().documents

    def close(self) -> None:
        """Close the connections to the service."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, calls: Calls[Result]) -> Result:
        try:
            call = next(calls)
            while True:
                call = calls.send(self._connection.call(call))
        except StopIteration as done:
            result: Result = done.value
            return result


class AsyncClient:
    """The methods of `Client`, to be awaited; for one event loop.

    Examples:
        >>> async with AsyncClient("http://127.0.0.1:8080") as index:
        ...     answers = await index.search("Where was Marie Curie born?")

    Args:
        url: Where `densephrases serve` listens.
        api_key: One of the service's keys; to add or delete documents, an admin key.
        timeout: Seconds without a byte from the service after which a call fails.
        retries: How often a request is repeated after a 429 or 503; a change only if it was not begun.
        longest_wait: Most seconds to wait before a repetition, whatever the service asks for.
        connections: Requests in flight at the same time; further ones wait for a free connection.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
        longest_wait: float = LONGEST_WAIT,
        connections: int = 32,
    ) -> None:
        self._connection = AsyncConnection(Address(url, api_key, timeout, retries, longest_wait), connections)
        self._operations = Operations()

    def with_task(self, task: str | None) -> Self:
        """The same service with the query encoder of another task, None the default; this client stays as it is."""
        other = copy(self)
        other._operations = self._operations.with_task(task)
        return other

    @overload
    async def search(
        self, questions: str, k: int | None = ..., *, request: SearchRequest | None = ..., **options: Any
    ) -> AnswerList: ...

    @overload
    async def search(
        self, questions: Sequence[str], k: int | None = ..., *, request: SearchRequest | None = ..., **options: Any
    ) -> list[AnswerList]: ...

    async def search(
        self,
        questions: str | Sequence[str],
        k: int | None = None,
        *,
        request: SearchRequest | None = None,
        **options: Any,
    ) -> AnswerList | list[AnswerList]:
        """As `Client.search`."""
        several = checked_questions(questions)
        found = await self._run(self._operations.search(several, search_request(request, k, options)))
        return found[0] if isinstance(questions, str) else found

    async def extract(
        self,
        subjects: Sequence[str],
        relation: str,
        *,
        template: str | None = None,
        prefer_titles: bool = True,
        min_confidence: float | None = None,
        anywhere: bool = False,
        aliases: Mapping[str, Sequence[str]] | None = None,
    ) -> list[Fact]:
        """As `Client.extract`."""
        query = RelationQuery(
            relation=relation,
            template=template,
            prefer_titles=prefer_titles,
            min_confidence=min_confidence,
            anywhere=anywhere,
            aliases=aliases,
        )
        return await self._run(self._operations.extract(subjects, query))

    async def document(self, identifier: str) -> Document | None:
        """The document with this id, as it was indexed; None if there is none."""
        return await self._run(self._operations.document(identifier))

    async def add(self, documents: Iterable[Document]) -> Progress:
        """Add documents; those that are already there with the same content are skipped."""
        return await self._run(self._operations.add(documents, replace=False))

    async def update(self, documents: Iterable[Document]) -> Progress:
        """Add documents, replacing those whose content has changed."""
        return await self._run(self._operations.add(documents, replace=True))

    async def delete(self, ids: Iterable[str]) -> int:
        """Delete documents by their ids; if one is unknown, none is deleted."""
        return await self._run(self._operations.delete(ids))

    async def info(self) -> IndexInfo:
        """What the index of the service contains, and how it was made."""
        return await self._run(self._operations.info())

    async def close(self) -> None:
        """Close the connections to the service."""
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, calls: Calls[Result]) -> Result:
        try:
            call = next(calls)
            while True:
                call = calls.send(await self._connection.call(call))
        except StopIteration as done:
            result: Result = done.value
            return result
