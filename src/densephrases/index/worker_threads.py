"""A pipeline of threads, connected by queues.

An executor would do, except for Ctrl-C: if it interrupts the main thread while this submits work, a lock of the
executor may stay locked, and all threads wait forever. A `SimpleQueue` has no such moment.
"""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple


class _Outcome(NamedTuple):
    value: Any = None
    error: BaseException | None = None


_End = None  # the last item of a queue


class WorkerThreads:
    """One thread for each step of the work, in order. `get` raises what a step raised; later values are still done."""

    def __init__(self, *works: Callable[[Any], Any]) -> None:
        self._queues: list[SimpleQueue[_Outcome | None]] = [SimpleQueue() for _ in range(len(works) + 1)]
        self._stopped = False
        self._threads = [
            threading.Thread(target=self._run, args=(work, *self._queues[place : place + 2]), daemon=True)
            for place, work in enumerate(works)
        ]
        for thread in self._threads:
            thread.start()

    def put(self, value: Any) -> None:
        self._queues[0].put(_Outcome(value))

    def get(self) -> Any:
        outcome = self._queues[-1].get()
        assert outcome is not _End
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    def stop(self) -> None:
        """End the threads; values that no step has begun are dropped."""
        self._stopped = True
        self._queues[0].put(_End)
        for thread in self._threads:
            thread.join()

    def _run(
        self,
        work: Callable[[Any], Any],
        inbox: "SimpleQueue[_Outcome | None]",
        outbox: "SimpleQueue[_Outcome | None]",
    ) -> None:
        while (given := inbox.get()) is not _End:
            if given.error is None and not self._stopped:
                given = _tried(work, given.value)
            outbox.put(given)
            del given  # it may be large
        outbox.put(_End)


def _tried(work: Callable[[Any], Any], value: Any) -> _Outcome:
    try:
        return _Outcome(work(value))
    except BaseException as error:
        return _Outcome(error=error)
