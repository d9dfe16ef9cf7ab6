"""A running service: the live index, the queue in front of it, and what the routes call."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from densephrases.errors import DeadlineExceededError
from densephrases.index.folder import IndexFolder
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.index.manifest import Manifest
from densephrases.model.load import load
from densephrases.search.answering_index import AnsweringIndex
from densephrases.search.answers import AnswerList
from densephrases.search.deadline import Deadline
from densephrases.search.facts.relations import Fact, RelationQuery, extract_facts
from densephrases.search.filtering.filters import Filter
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.search.searcher import QUESTIONS_AT_ONCE
from densephrases.serve.problems import Problem
from densephrases.serve.runtime.batching import Batcher, QueueFullError
from densephrases.serve.runtime.live_index import LiveIndex
from densephrases.serve.runtime.metrics import Metrics
from densephrases.serve.runtime.page_files import PageFiles
from densephrases.serve.runtime.suggested_questions import SHOWN, candidates, choose, owner_questions
from densephrases.serve.runtime.task_indexes import TaskIndexes
from densephrases.serve.settings import ServiceSettings

Changed = TypeVar("Changed")

_RETRY = {"Retry-After": "1"}
_CANCEL_SECONDS = 2.0  # for a cancelled search to notice


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

    @property
    def thorough(self) -> bool:
        """Whether it may take much longer than others."""
        request = self.request
        return request.exact is True or request.effort > DEFAULT_EFFORT or bool(request.verify)

    def __call__(self, index: AnsweringIndex, questions: Sequence[str], deadline: Deadline) -> list[AnswerList]:
        return index.search(questions, request=self.request, deadline=deadline)


@dataclass(frozen=True, slots=True)
class ExtractJob:
    """An extraction with the query encoder of a task. Subjects of equal jobs share a batch."""

    query: RelationQuery
    task: str | None

    thorough = False

    def __call__(self, index: AnsweringIndex, subjects: Sequence[str], deadline: Deadline) -> list[Fact]:
        def search(questions: Sequence[str], request: SearchRequest) -> list[AnswerList]:
            return index.search(questions, request=request, deadline=deadline)

        return list(extract_facts(search, subjects, self.query, lambda _: None))


Job = SearchJob | ExtractJob


class _Lane:
    """A queue with a thread that searches."""

    def __init__(self, service: "Service", name: str) -> None:
        self._live = service.live
        self._indexes = TaskIndexes(service.settings.task)
        self.batcher = Batcher[str, Any, Job](
            self._run,
            batch_size=QUESTIONS_AT_ONCE,
            queue_size=service.settings.queue,
            observe=service.batch_started,
            name=name,
        )

    def _run(self, items: Sequence[str], job: Job, deadline: Deadline) -> list[Any]:
        return list(job(self._indexes.for_task(self._live.index, job.task), items, deadline))


class Service:
    """An index, the queues in front of it, and metrics."""

    def __init__(self, settings: ServiceSettings, index: AnsweringIndex | None = None) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.live = LiveIndex(open_index(settings) if index is None else index, self._reloaded)
        self.metrics.documents.set(len(self.live.index))
        self.page_files = PageFiles(settings.pages, settings.deadline_seconds)
        self._quick = _Lane(self, "search")
        self._thorough = _Lane(self, "thorough search")
        self._suggested: tuple[AnsweringIndex, list[str]] | None = None
        self._suggesting = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._at_work = False  # on a change
        self._watching: asyncio.Task[None] | None = None
        self.stopping = False
        self.idle = True  # whether no thread was left at work by `stop`

    def start(self) -> None:
        self._watching = asyncio.create_task(self.live.watch(self.settings.reload_seconds))

    async def stop(self) -> None:
        """Cancel what is still running."""
        self.stopping = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        ended = await asyncio.gather(*(lane.batcher.close(_CANCEL_SECONDS) for lane in (self._quick, self._thorough)))
        self.idle = all(ended) and not self._at_work

    @property
    def waiting(self) -> int:
        """Questions that are not in a batch yet."""
        return self._quick.batcher.waiting + self._thorough.batcher.waiting

    @property
    def is_full(self) -> bool:
        return self._quick.batcher.waiting >= self.settings.queue

    async def change(self, change: Callable[[PhraseIndex], Changed], seconds: float | None = None) -> Changed:
        """Call a function that writes to the index, reopened beside the live one, then reload.

        Whoever waits longer than the deadline for the changes before gets a 503; a change that has begun is finished.
        """
        await self._turn_to_write(self._seconds(seconds))
        try:
            return await asyncio.to_thread(self._changed, change)
        finally:
            try:
                await self.live.reload()
            finally:
                self._writing.release()

    def _changed(self, change: Callable[[PhraseIndex], Changed]) -> Changed:
        self._at_work = True
        try:
            index = self.live.index.reopened()
            assert isinstance(index, PhraseIndex)  # others are served without admin keys
            return change(index)
        finally:
            self._at_work = False

    async def _turn_to_write(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._writing.acquire()
        except TimeoutError:
            self.metrics.refused.labels("writing").inc()
            detail = f"Other changes took more than {seconds:.3g} seconds; nothing was changed, send it again later."
            raise Problem(503, "writing", detail, _RETRY) from None

    async def answers(
        self, questions: Sequence[str], request: SearchRequest, task: str | None, seconds: float | None = None
    ) -> list[AnswerList]:
        """Answers to each question; a full queue or a passed deadline is a 503.

        Args:
            questions: One or several, answered together.
            request: Options of the search.
            task: Whose query encoder is used.
            seconds: Until the search is ended; None is the deadline of the settings.
        """
        return await self._submit(questions, SearchJob(request, task), seconds)

    async def facts(
        self, subjects: Sequence[str], query: RelationQuery, task: str | None, seconds: float | None = None
    ) -> list[Fact]:
        """A fact for each subject; a full queue or a passed deadline is a 503."""
        return await self._submit(subjects, ExtractJob(query, task), seconds)

    async def suggested_questions(self) -> list[str]:
        """The owner's questions, or questions generated and checked once for each state of the index."""
        index = self.live.index
        if given := await asyncio.to_thread(owner_questions, index):
            return given[:SHOWN]
        async with self._suggesting:
            if self._suggested is None or self._suggested[0] is not index:
                self._suggested = index, await self._generated(index)
            return self._suggested[1]

    async def _generated(self, index: AnsweringIndex) -> list[str]:
        found = await asyncio.to_thread(candidates, index)
        if not found:
            return []
        answers = await self.answers([each.question for each in found], SearchRequest(k=1), self.settings.task)
        return choose([(each, best[0]) for each, best in zip(found, answers, strict=True) if best])

    def _seconds(self, given: float | None) -> float:
        return self.settings.deadline_seconds if given is None else max(given, 0)

    async def _submit(self, items: Sequence[str], job: Job, given: float | None) -> list[Any]:
        lane = self._thorough if job.thorough else self._quick
        seconds = self._seconds(given)
        try:
            async with asyncio.timeout(seconds):
                return await lane.batcher.submit(items, job, seconds)
        except QueueFullError:
            self.metrics.refused.labels("queue_full").inc()
            detail = f"The queue is full ({self.settings.queue} questions); send the request again later."
            raise Problem(503, "queue_full", detail, _RETRY) from None
        except (TimeoutError, DeadlineExceededError):
            self.metrics.refused.labels("deadline").inc()
            most = self.settings.deadline_seconds
            detail = f"The request was not answered within {most:g} seconds; ask for less, or send it again later."
            raise Problem(503, "deadline", detail, _RETRY) from None

    def batch_started(self, questions: int, _: int) -> None:
        self.metrics.batches.observe(questions)
        self.metrics.waiting.set(self.waiting)

    def _reloaded(self, successfully: bool) -> None:
        self.metrics.reloaded(successfully)
        self.metrics.documents.set(len(self.live.index))


def open_index(settings: ServiceSettings) -> PhraseIndex:
    model = Manifest.load(settings.index).settings.model if settings.model is None else settings.model
    encoder = load(model, threads=settings.threads, task=settings.task)
    return PhraseIndex(IndexFolder.open(settings.index, encoder.product_quantizer), encoder)
