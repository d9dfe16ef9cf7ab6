"""Dynamic batching: requests that arrive while a batch is computed form the next batch."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)


class QueueFullError(Exception):
    """The queue has no room for the items of a new request."""


@dataclass(slots=True, eq=False)
class _Job(Generic[Item, Result, Key]):
    items: Sequence[Item]
    key: Key
    done: "asyncio.Future[list[Result]]" = field(repr=False)


class Batcher(Generic[Item, Result, Key]):
    """Calls a function for many callers at once, in a thread of its own.

    An idle batcher starts at once and never waits for more items. Requests with the same key share a call; the oldest
    waiting request decides the key. A call has at most `batch_size` items unless a single request has more.

    Args:
        work: Returns a result for each item.
        batch_size: Maximum number of items in a call.
        queue_size: Maximum number of waiting items; a full queue raises `QueueFullError`.
        observe: Called before every call with its number of items and the number still waiting.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item], Key], list[Result]],
        *,
        batch_size: int,
        queue_size: int,
        observe: Callable[[int, int], None] = lambda _, __: None,
    ) -> None:
        self._work = work
        self._batch_size = batch_size
        self._queue_size = queue_size
        self._observe = observe
        self._waiting: deque[_Job[Item, Result, Key]] = deque()
        self.waiting = 0  # items that are not in a call yet
        self._busy = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="search")

    async def submit(self, items: Sequence[Item], key: Key) -> list[Result]:
        """A result for each item. A request that was cancelled while it waited is dropped."""
        if self._busy and self.waiting + len(items) > self._queue_size:
            raise QueueFullError
        job = _Job[Item, Result, Key](items, key, asyncio.get_running_loop().create_future())
        self._waiting.append(job)
        self.waiting += len(items)
        self._start()
        return await job.done

    def close(self) -> None:
        """Finish the current call."""
        self._thread.shutdown()

    def _start(self) -> None:
        if self._busy or not (jobs := self._next_jobs()):
            return
        self._busy = True
        self._observe(sum(len(job.items) for job in jobs), self.waiting)
        work = asyncio.get_running_loop().run_in_executor(self._thread, self._call, jobs)
        work.add_done_callback(lambda done: self._finish(jobs, done))

    def _next_jobs(self) -> list[_Job[Item, Result, Key]]:
        waiting = [job for job in self._waiting if not job.done.done()]
        taken: list[_Job[Item, Result, Key]] = []
        left: deque[_Job[Item, Result, Key]] = deque()
        room = self._batch_size
        for job in waiting:
            fits = not taken or (job.key == taken[0].key and len(job.items) <= room)
            (taken if fits else left).append(job)
            room -= len(job.items) if fits else 0
        self._waiting = left
        self.waiting = sum(len(job.items) for job in left)
        return taken

    def _call(self, jobs: list[_Job[Item, Result, Key]]) -> list[list[Result] | Exception]:
        try:
            results = iter(self._work([item for job in jobs for item in job.items], jobs[0].key))
            return [[next(results) for _ in job.items] for job in jobs]
        except Exception as error:
            if len(jobs) == 1:
                return [error]
            return [outcome for job in jobs for outcome in self._call([job])]  # only the culprit fails

    def _finish(
        self, jobs: list[_Job[Item, Result, Key]], work: "asyncio.Future[list[list[Result] | Exception]]"
    ) -> None:
        self._busy = False
        for job, outcome in zip(jobs, work.result(), strict=True):
            if job.done.done():
                continue
            if isinstance(outcome, Exception):
                job.done.set_exception(outcome)
            else:
                job.done.set_result(outcome)
        self._start()
