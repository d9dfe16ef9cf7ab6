"""Calls of a deployment with a deadline: repeated when a replica fails, doubled when it is slow."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from statistics import quantiles
from threading import Thread
from time import monotonic
from typing import Any, Literal

from densephrases.errors import DeadlineExceededError

Outcome = Literal["answered", "hedged", "failed"]
Observe = Callable[[str, Outcome], None]
"""Called with the name of the deployment."""

_ATTEMPTS = 4  # of a call, hedges included: the router may choose a replica that hangs again
_FIRST_HEDGE_SECONDS = 0.25  # until enough calls were timed
_LEAST_HEDGE_SECONDS = 0.02
_HEDGE_FACTOR = 2.0  # of the 95th percentile of the last calls
_TIMED_CALLS = 100
_FEWEST_TIMED = 20

log = logging.getLogger(__name__)


class Latencies:
    """Of the last calls of each method."""

    def __init__(self) -> None:
        self._seconds: dict[str, deque[float]] = {}

    def add(self, method: str, seconds: float) -> None:
        self._seconds.setdefault(method, deque(maxlen=_TIMED_CALLS)).append(seconds)

    def hedge_after(self, method: str) -> float:
        """Seconds after which a call is unusually slow."""
        timed = self._seconds.get(method, ())
        if len(timed) < _FEWEST_TIMED:
            return _FIRST_HEDGE_SECONDS
        return max(_HEDGE_FACTOR * quantiles(timed, n=20)[-1], _LEAST_HEDGE_SECONDS)


class HedgedCalls:
    """Calls of one deployment.

    Args:
        name: Of the deployment.
        send: Sends a call to one of its replicas; given the method, its packed arguments and the seconds that it has.
        replicas: How many there are; a single one is not asked twice for being slow.
        observe: Called with what became of each call.
    """

    def __init__(
        self,
        name: str,
        send: Callable[[str, bytes, float], Awaitable[Any]],
        *,
        replicas: int,
        observe: Observe = lambda name, outcome: None,
    ) -> None:
        self.name = name
        self._send = send
        self._replicas = replicas
        self._observe = observe
        self._latencies = Latencies()

    async def __call__(self, method: str, arguments: bytes, seconds: float) -> Any:
        """The first reply; raises what the last attempt raised, or DeadlineExceededError."""
        began, waiting, attempts = monotonic(), set[asyncio.Future[Any]](), 0
        error: BaseException = DeadlineExceededError(f"{self.name} did not answer within {seconds:.3g} s.")
        try:
            while (left := seconds - (monotonic() - began)) > 0:
                if not waiting:
                    if attempts == _ATTEMPTS:
                        break
                    attempts += 1
                    waiting.add(asyncio.ensure_future(self._send(method, arguments, left)))
                may_hedge = self._replicas > 1 and attempts < _ATTEMPTS
                pause = min(self._latencies.hedge_after(method) * 2 ** (attempts - 1), left) if may_hedge else left
                done, waiting = await asyncio.wait(waiting, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    if each.cancelled() or each.exception() is not None:
                        error = asyncio.CancelledError() if each.cancelled() else each.exception() or error
                        continue
                    self._latencies.add(method, monotonic() - began)
                    self._observe(self.name, "answered")
                    return each.result()
                if not done and may_hedge:
                    self._observe(self.name, "hedged")
                    attempts += 1
                    waiting.add(asyncio.ensure_future(self._send(method, arguments, left)))
        finally:
            for each in waiting:
                each.cancel()
        self._observe(self.name, "failed")
        log.warning("%s failed to answer %s: %s", self.name, method, error)
        raise error


class LoopThread:
    """An event loop in a thread of its own, for calls from threads that wait for them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        Thread(target=self._loop.run_forever, name="calls", daemon=True).start()

    def run(self, work: Awaitable[Any], check: Callable[[], None] = lambda: None) -> Any:
        """What the work returns; what `check` raises ends it."""

        async def awaited() -> Any:
            return await work

        future = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        while True:
            try:
                return future.result(timeout=_CHECK_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
            try:
                check()
            except BaseException:
                future.cancel()
                raise


_CHECK_SECONDS = 0.1
