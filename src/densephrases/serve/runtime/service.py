"""The parts of a running service, and what its routes ask of them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import Manifest
from densephrases.model.load import load
from densephrases.search.answers import Answer
from densephrases.search.filters import Filter
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.relations import Extraction, Fact, extract_facts
from densephrases.search.request import SearchRequest, Unit
from densephrases.search.searcher import QUESTIONS_AT_ONCE
from densephrases.serve.problems import Problem
from densephrases.serve.runtime.batching import Batcher, QueueFullError
from densephrases.serve.runtime.live_index import LiveIndex
from densephrases.serve.runtime.metrics import Metrics
from densephrases.serve.runtime.suggested_questions import SHOWN, candidates, chosen, given_examples
from densephrases.serve.runtime.task_indexes import TaskIndexes
from densephrases.serve.settings import ServiceSettings

Changed = TypeVar("Changed")

_RETRY = {"Retry-After": "1"}


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """What is asked beside the questions; equal terms are answered together."""

    k: int
    unit: Unit
    filter: Filter
    min_confidence: float
    effort: float
    exact: bool | None
    lexical_weight: float | None
    truecase: bool
    task: str | None

    @classmethod
    def of(cls, request: SearchRequest, task: str | None) -> Self:
        same = ("k", "unit", "min_confidence", "effort", "exact", "lexical_weight", "truecase")
        values = {name: getattr(request, name) for name in same}
        return cls(**values, filter=request.filter, task=task)

    def __call__(self, index: PhraseIndex, questions: Sequence[str]) -> list[list[Answer]]:
        return index.search(
            questions,
            self.k,
            unit=self.unit,
            where=dict(self.filter.where) or None,
            documents=self.filter.documents,
            min_confidence=self.min_confidence,
            effort=self.effort,
            exact=self.exact,
            lexical_weight=self.lexical_weight,
            truecase=self.truecase,
        )


@dataclass(frozen=True, slots=True)
class FactTerms:
    """What is asked of each subject."""

    extraction: Extraction
    task: str | None

    def __call__(self, index: PhraseIndex, subjects: Sequence[str]) -> list[Fact]:
        return list(extract_facts(index.search, subjects, self.extraction, lambda _: None))


Terms = SearchTerms | FactTerms


class Service:
    """An index, the queue before it, and its numbers."""

    def __init__(self, settings: ServiceSettings, index: PhraseIndex | None = None) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.current = LiveIndex(open_index(settings) if index is None else index, self._reloaded)
        self.metrics.documents.set(len(self.current.index))
        self._batcher = Batcher[str, Any, Terms](
            self._answer, most=QUESTIONS_AT_ONCE, bound=settings.queue, observe=self._started
        )
        self._sides = TaskIndexes(settings.task)
        self._examples: tuple[PhraseIndex, list[str]] | None = None
        self._trying = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None
        self.stopping = False

    def start(self) -> None:
        self._watching = asyncio.create_task(self.current.watch(self.settings.reload_seconds))

    async def stop(self) -> None:
        self.stopping = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._batcher.close()

    @property
    def waiting(self) -> int:
        """Questions that nobody works on yet."""
        return self._batcher.waiting

    @property
    def is_full(self) -> bool:
        return self.waiting >= self.settings.queue

    async def change(self, change: Callable[[PhraseIndex], Changed]) -> Changed:
        """Let a function write to the index, beside the one that is served, then serve what it has made."""
        async with self._writing:
            try:
                return await asyncio.to_thread(lambda: change(self.current.index.reopened()))
            finally:
                await self.current.reload()

    async def answers(self, questions: Sequence[str], request: SearchRequest, task: str | None) -> list[list[Answer]]:
        """Answers to each question; refused if too many wait already or if it takes too long."""
        return await self._submit(questions, SearchTerms.of(request, task))

    async def facts(self, subjects: Sequence[str], extraction: Extraction, task: str | None) -> list[Fact]:
        """A fact for each subject; refused like questions."""
        return await self._submit(subjects, FactTerms(extraction, task))

    async def examples(self) -> list[str]:
        """Questions the index answers: its owner's, or some that were tried once for each state of the index."""
        index = self.current.index
        if given := await asyncio.to_thread(given_examples, index):
            return given[:SHOWN]
        async with self._trying:
            if self._examples is None or self._examples[0] is not index:
                self._examples = index, await self._tried(index)
            return self._examples[1]

    async def _tried(self, index: PhraseIndex) -> list[str]:
        found = await asyncio.to_thread(candidates, index)
        if not found:
            return []
        answers = await self.answers([each.question for each in found], SearchRequest(k=1), self.settings.task)
        return chosen([(each, best[0]) for each, best in zip(found, answers, strict=True) if best])

    async def _submit(self, items: Sequence[str], terms: Terms) -> list[Any]:
        seconds = self.settings.deadline_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._batcher.submit(items, terms)
        except QueueFullError:
            self.metrics.refused.labels("queue_full").inc()
            detail = f"As many questions are waiting as may ({self.settings.queue}); send the request again later."
            raise Problem(503, "queue_full", detail, _RETRY) from None
        except TimeoutError:
            self.metrics.refused.labels("deadline").inc()
            detail = f"The request was not answered within {seconds:g} seconds; send it again later."
            raise Problem(503, "deadline", detail, _RETRY) from None

    def _answer(self, items: Sequence[str], terms: Terms) -> list[Any]:
        return list(terms(self._sides.of(self.current.index, terms.task), items))

    def _started(self, questions: int, waiting: int) -> None:
        self.metrics.batches.observe(questions)
        self.metrics.waiting.set(waiting)

    def _reloaded(self, successfully: bool) -> None:
        self.metrics.reloaded(successfully)
        self.metrics.documents.set(len(self.current.index))


def open_index(settings: ServiceSettings) -> PhraseIndex:
    model = Manifest.load(settings.index).settings.model if settings.model is None else settings.model
    encoder = load(model, threads=settings.threads, task=settings.task)
    return PhraseIndex(IndexFolder.open(settings.index, encoder.product_quantizer), encoder)
