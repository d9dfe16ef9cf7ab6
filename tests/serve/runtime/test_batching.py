"""Which requests share a batch; a gate holds the work back until all requests have arrived."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest

from densephrases.errors import DeadlineExceededError
from densephrases.search.deadline import Deadline
from densephrases.serve.runtime.batching import Batcher, QueueFullError


class Work:
    """Doubles numbers, refuses 13, and remembers its calls; waits at the gate."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.gate = threading.Event()

    def __call__(self, numbers: Sequence[int], key: str, deadline: Deadline) -> list[int]:
        self.calls.append(list(numbers))
        self.gate.wait()
        if 13 in numbers:
            raise ValueError("13")
        return [2 * number for number in numbers]


async def all_submitted(
    batcher: Batcher[int, int, str], jobs: Sequence[tuple[list[int], str]]
) -> list[asyncio.Task[list[int]]]:
    """Tasks that have reached the queue."""
    tasks = [asyncio.create_task(batcher.submit(items, key, 1000)) for items, key in jobs]
    await asyncio.sleep(0)
    return tasks


def outcomes(
    jobs: Sequence[tuple[list[int], str]], batch_size: int = 8
) -> tuple[list[list[int]], list[list[int] | BaseException]]:
    """The calls of the work, and what each caller gets, when all come while the first is worked on."""

    async def run() -> tuple[list[list[int]], list[list[int] | BaseException]]:
        work = Work()
        batcher = Batcher[int, int, str](work, batch_size=batch_size, queue_size=100)
        tasks = await all_submitted(batcher, jobs)
        work.gate.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert await batcher.close(60)
        return work.calls, results

    return asyncio.run(run())


def test_a_lone_request_does_not_wait() -> None:
    calls, results = outcomes([([1], "a")])
    assert (calls, results) == ([[1]], [[2]])


def test_what_comes_meanwhile_is_answered_together() -> None:
    calls, results = outcomes([([1], "a"), ([2, 3], "a"), ([4], "a")])
    assert calls == [[1], [2, 3, 4]]
    assert results == [[2], [4, 6], [8]]


def test_only_equal_terms_share_a_call() -> None:
    calls, results = outcomes([([1], "a"), ([2], "b"), ([3], "a"), ([4], "b")])
    assert calls == [[1], [2, 4], [3]]
    assert results == [[2], [4], [6], [8]]


def test_no_call_is_larger_than_it_may() -> None:
    calls, _ = outcomes([([1], "a"), ([2, 3], "a"), ([4, 5], "a"), ([6], "a")], batch_size=3)
    assert calls == [[1], [2, 3, 6], [4, 5]]


def test_a_single_caller_may_ask_more() -> None:
    calls, results = outcomes([([1, 2, 3, 4], "a")], batch_size=3)
    assert (calls, results) == ([[1, 2, 3, 4]], [[2, 4, 6, 8]])


def test_only_the_culprit_fails() -> None:
    calls, results = outcomes([([1], "a"), ([2], "a"), ([13], "a"), ([3], "a")])
    assert calls == [[1], [2, 13, 3], [2], [13], [3]]
    assert (results[0], results[1], results[3]) == ([2], [4], [6])
    assert isinstance(results[2], ValueError)


def test_a_full_queue_refuses() -> None:
    async def run() -> None:
        work = Work()
        sizes: list[tuple[int, int]] = []
        batcher = Batcher[int, int, str](work, batch_size=8, queue_size=3, observe=lambda *size: sizes.append(size))
        first, second = await all_submitted(batcher, [([1], "a"), ([2, 3], "a")])
        assert batcher.waiting == 2
        with pytest.raises(QueueFullError):
            await batcher.submit([4, 5], "a", 1000)
        (third,) = await all_submitted(batcher, [([6], "a")])
        work.gate.set()
        assert [await first, await second, await third] == [[2], [4, 6], [12]]
        assert sizes == [(1, 0), (3, 0)]
        assert await batcher.close(60)

    asyncio.run(run())


def test_who_has_given_up_is_left_out() -> None:
    async def run() -> None:
        work = Work()
        batcher = Batcher[int, int, str](work, batch_size=8, queue_size=100)
        first, second, third = await all_submitted(batcher, [([1], "a"), ([2], "a"), ([3], "a")])
        first.cancel()  # is being worked on: its result is dropped
        second.cancel()
        await asyncio.sleep(0)
        work.gate.set()
        assert await third == [6]
        assert work.calls == [[1], [3]]
        assert await batcher.close(60)

    asyncio.run(run())


class Endless:
    """Ends only when its deadline is over or cancelled, except for the key 'quick'."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.begun = threading.Event()

    def __call__(self, numbers: Sequence[int], key: str, deadline: Deadline) -> list[int]:
        self.calls.append(list(numbers))
        self.begun.set()
        while key != "quick":
            deadline.check()
        return list(numbers)


def endless(run: Callable[[Endless, Batcher[int, int, str]], Awaitable[None]]) -> None:
    async def all_of_it() -> None:
        work = Endless()
        batcher = Batcher[int, int, str](work, batch_size=8, queue_size=100)
        await run(work, batcher)
        assert await batcher.close(60)

    asyncio.run(all_of_it())


def test_a_call_ends_at_its_deadline() -> None:
    async def run(work: Endless, batcher: Batcher[int, int, str]) -> None:
        slow = asyncio.create_task(batcher.submit([1], "slow", 0.05))
        quick = asyncio.create_task(batcher.submit([2], "quick", 1000))
        with pytest.raises(DeadlineExceededError):
            await slow
        assert await quick == [2]

    endless(run)


def test_the_last_deadline_of_a_batch_counts_and_nobody_is_asked_alone() -> None:
    async def run(work: Endless, batcher: Batcher[int, int, str]) -> None:
        first = asyncio.create_task(batcher.submit([0], "slow", 0.05))
        await asyncio.sleep(0)
        both = [asyncio.create_task(batcher.submit([n], "slow", seconds)) for n, seconds in ((1, 0.1), (2, 0.2))]
        failures = await asyncio.gather(first, *both, return_exceptions=True)
        assert all(isinstance(each, DeadlineExceededError) for each in failures)
        assert work.calls == [[0], [1, 2]]

    endless(run)


def test_a_call_ends_when_all_have_given_up() -> None:
    async def run(work: Endless, batcher: Batcher[int, int, str]) -> None:
        alone = asyncio.create_task(batcher.submit([0], "slow", 0.05))
        await asyncio.sleep(0)
        several = [asyncio.create_task(batcher.submit([n], "slow", 1000)) for n in (1, 2)]
        await asyncio.gather(alone, return_exceptions=True)
        while len(work.calls) < 2:
            await asyncio.sleep(0.01)
        several[0].cancel()
        await asyncio.sleep(0.05)
        assert batcher.is_busy
        several[1].cancel()
        assert await batcher.submit([3], "quick", 1000) == [3]

    endless(run)


def test_closing_cancels() -> None:
    async def run(work: Endless, batcher: Batcher[int, int, str]) -> None:
        slow = asyncio.create_task(batcher.submit([1], "slow", 1000))
        await asyncio.to_thread(work.begun.wait)
        assert await batcher.close(60)
        with pytest.raises(DeadlineExceededError):
            await slow

    endless(run)
