"""A running service: the live index, the queue in front of it, and what the routes call."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import Manifest
from densephrases.model.load import load
from densephrases.search.answers import Answer
from densephrases.search.filters import Filter
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.relations import Fact, RelationQuery, extract_facts
from densephrases.search.request import SearchRequest
from densephrases.search.searcher import QUESTIONS_AT_ONCE
from densephrases.serve.problems import Problem
from densephrases.serve.runtime.batching import Batcher, QueueFullError
from densephrases.serve.runtime.live_index import LiveIndex
from densephrases.serve.runtime.metrics import Metrics
from densephrases.serve.runtime.suggested_questions import SHOWN, candidates, choose, owner_questions
from densephrases.serve.runtime.task_indexes import TaskIndexes
from densephrases.serve.settings import ServiceSettings

Changed = TypeVar("Changed")

_RETRY = {"Retry-After": "1"}


@dataclass(frozen=True, slots=True)
class SearchJob:
    """A search with the query encoder of a task. Questions of equal jobs share a batch.

    Attributes:
        filter: Makes jobs differ whose `where` has true in place of 1, which Python takes to be equal.
    """

    request: SearchRequest
    task: str | None
    filter: Filter = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "filter", self.request.filter)

    def __call__(self, index: PhraseIndex, questions: Sequence[str]) -> list[list[Answer]]:
        return index.search(questions, request=self.request)


@dataclass(frozen=True, slots=True)
class ExtractJob:
    """An extraction with the query encoder of a task. Subjects of equal jobs share a batch."""

    query: RelationQuery
    task: str | None

    def __call__(self, index: PhraseIndex, subjects: Sequence[str]) -> list[Fact]:
        return list(extract_facts(index.search, subjects, self.query, lambda _: None))


Job = SearchJob | ExtractJob


class Service:
    """An index, the queue in front of it, and metrics."""

    def __init__(self, settings: ServiceSettings, index: PhraseIndex | None = None) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.live = LiveIndex(open_index(settings) if index is None else index, self._reloaded)
        self.metrics.documents.set(len(self.live.index))
        self._batcher = Batcher[str, Any, Job](
            self._run_batch, batch_size=QUESTIONS_AT_ONCE, queue_size=settings.queue, observe=self._batch_started
        )
        self._task_indexes = TaskIndexes(settings.task)
        self._suggested: tuple[PhraseIndex, list[str]] | None = None
        self._suggesting = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self.stopping = False

    def start(self) -> None:
        self._watching = asyncio.create_task(self.live.watch(self.settings.reload_seconds))

    async def stop(self) -> None:
        self.stopping = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._batcher.close()

    @property
    def waiting(self) -> int:
        """Questions that are not in a batch yet."""
        return self._batcher.waiting

    @property
    def is_full(self) -> bool:
        return self.waiting >= self.settings.queue

    async def change(self, change: Callable[[PhraseIndex], Changed]) -> Changed:
        """Call a function that writes to the index, reopened beside the live one, then reload."""
        async with self._writing:
            try:
                return await asyncio.to_thread(lambda: change(self.live.index.reopened()))
            finally:
                await self.live.reload()

    async def answers(self, questions: Sequence[str], request: SearchRequest, task: str | None) -> list[list[Answer]]:
        """Answers to each question; a full queue or a passed deadline is a 503."""
        return await self._submit(questions, SearchJob(request, task))

    async def facts(self, subjects: Sequence[str], query: RelationQuery, task: str | None) -> list[Fact]:
        """A fact for each subject; a full queue or a passed deadline is a 503."""
        return await self._submit(subjects, ExtractJob(query, task))

    async def suggested_questions(self) -> list[str]:
        """The owner's questions, or questions generated and checked once for each state of the index."""
        index = self.live.index
        if given := await asyncio.to_thread(owner_questions, index):
            return given[:SHOWN]
        async with self._suggesting:
            if self._suggested is None or self._suggested[0] is not index:
                self._suggested = index, await self._generated(index)
            return self._suggested[1]

    async def _generated(self, index: PhraseIndex) -> list[str]:
        found = await asyncio.to_thread(candidates, index)
        if not found:
            return []
        answers = await self.answers([each.question for each in found], SearchRequest(k=1), self.settings.task)
        return choose([(each, best[0]) for each, best in zip(found, answers, strict=True) if best])

    async def _submit(self, items: Sequence[str], job: Job) -> list[Any]:
        seconds = self.settings.deadline_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._batcher.submit(items, job)
        except QueueFullError:
            self.metrics.refused.labels("queue_full").inc()
            detail = f"The queue is full ({self.settings.queue} questions); send the request again later."
            raise Problem(503, "queue_full", detail, _RETRY) from None
        except TimeoutError:
            self.metrics.refused.labels("deadline").inc()
            detail = f"The request was not answered within {seconds:g} seconds; send it again later."
            raise Problem(503, "deadline", detail, _RETRY) from None

    def _run_batch(self, items: Sequence[str], job: Job) -> list[Any]:
        return list(job(self._task_indexes.for_task(self.live.index, job.task), items))

    def _batch_started(self, questions: int, waiting: int) -> None:
        self.metrics.batches.observe(questions)
        self.metrics.waiting.set(waiting)

    def _reloaded(self, successfully: bool) -> None:
        self.metrics.reloaded(successfully)
        self.metrics.documents.set(len(self.live.index))


def open_index(settings: ServiceSettings) -> PhraseIndex:
    model = Manifest.load(settings.index).settings.model if settings.model is None else settings.model
    encoder = load(model, threads=settings.threads, task=settings.task)
    return PhraseIndex(IndexFolder.open(settings.index, encoder.product_quantizer), encoder)
