"""Dynamic batching: requests that arrive while a batch is computed form the next batch."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from densephrases.errors import DeadlineExceededError, ShardsUnavailableError
from densephrases.search.deadline import Deadline

Item = TypeVar("Item")
Result = TypeVar("Result")
Key = TypeVar("Key", bound=Hashable)


class QueueFullError(Exception):
    """The queue has no room for the items of a new request."""


@dataclass(slots=True, eq=False)
class _Job(Generic[Item, Result, Key]):
    items: Sequence[Item]
    key: Key
    until: float
    done: "asyncio.Future[list[Result]]" = field(repr=False)


@dataclass(slots=True, eq=False)
class _Batch(Generic[Item, Result, Key]):
    """Jobs of one call, which ends when the last of them is out of time or all have given up."""

    jobs: "list[_Job[Item, Result, Key]]"
    deadline: Deadline = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = Deadline.after(max(job.until for job in self.jobs) - time.monotonic())
        for job in self.jobs:
            job.done.add_done_callback(self._given_up)

    def _given_up(self, done: "asyncio.Future[list[Result]]") -> None:
        if done.cancelled() and all(job.done.done() for job in self.jobs):
            self.deadline.cancel()


class Batcher(Generic[Item, Result, Key]):
    """Calls a function for many callers at once, in a thread of its own.

    An idle batcher starts at once and never waits for more items. Requests with the same key share a call; the oldest
    waiting request decides the key. A call has at most `batch_size` items unless a single request has more.

    Args:
        work: Returns a result for each item; it must check the deadline often.
        batch_size: Maximum number of items in a call.
        queue_size: Maximum number of waiting items; a full queue raises `QueueFullError`.
        observe: Called before every call with its number of items and the number still waiting.
        name: Of the thread.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item], Key, Deadline], list[Result]],
        *,
        batch_size: int,
        queue_size: int,
        observe: Callable[[int, int], None] = lambda _, __: None,
        name: str = "search",
    ) -> None:
        self._work = work
        self._batch_size = batch_size
        self._queue_size = queue_size
        self._observe = observe
        self._waiting: deque[_Job[Item, Result, Key]] = deque()
        self.waiting = 0  # items that are not in a call yet
        self._current: _Batch[Item, Result, Key] | None = None
        self._call: asyncio.Future[list[list[Result] | Exception]] | None = None
        self._closed = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    @property
    def is_busy(self) -> bool:
        return self._current is not None

    async def submit(self, items: Sequence[Item], key: Key, seconds: float) -> list[Result]:
        """A result for each item; the call that computes it ends after `seconds` at the latest.

        A request that was cancelled while it waited is dropped; a call is ended once all of its requests are cancelled.
        """
        if self._current is not None and self.waiting + len(items) > self._queue_size:
            raise QueueFullError
        done = asyncio.get_running_loop().create_future()
        job = _Job[Item, Result, Key](items, key, time.monotonic() + seconds, done)
        self._waiting.append(job)
        self.waiting += len(items)
        self._start()
        return await job.done

    async def close(self, seconds: float) -> bool:
        """Cancel the current call and start no other; whether the call has ended within some seconds."""
        self._closed = True
        if self._current is not None:
            self._current.deadline.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._call is None:
            return True
        ended, _ = await asyncio.wait([self._call], timeout=seconds)
        return bool(ended)

    def _start(self) -> None:
        if self._closed or self._current is not None or not (jobs := self._next_jobs()):
            return
        self._current = batch = _Batch(jobs)
        self._observe(sum(len(job.items) for job in jobs), self.waiting)
        self._call = asyncio.get_running_loop().run_in_executor(self._thread, self._outcomes, jobs, batch.deadline)
        self._call.add_done_callback(lambda done: self._finish(jobs, done))

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

    def _outcomes(self, jobs: list[_Job[Item, Result, Key]], deadline: Deadline) -> list[list[Result] | Exception]:
        try:
            results = iter(self._work([item for job in jobs for item in job.items], jobs[0].key, deadline))
            return [[next(results) for _ in job.items] for job in jobs]
        except (DeadlineExceededError, ShardsUnavailableError) as error:
            return [error] * len(jobs)
        except Exception as error:
            if len(jobs) == 1:
                return [error]
            alone = [[error] if job.done.done() else self._outcomes([job], deadline) for job in jobs]
            return [outcome for each in alone for outcome in each]  # only the culprit fails

    def _finish(
        self, jobs: list[_Job[Item, Result, Key]], call: "asyncio.Future[list[list[Result] | Exception]]"
    ) -> None:
        self._current = self._call = None
        stopped = DeadlineExceededError("The search was cancelled.")
        outcomes = [stopped] * len(jobs) if call.cancelled() else call.result()
        for job, outcome in zip(jobs, outcomes, strict=True):
            if job.done.done():
                continue
            if isinstance(outcome, Exception):
                job.done.set_exception(outcome)
            else:
                job.done.set_result(outcome)
        self._start()
