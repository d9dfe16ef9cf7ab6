"""Worker processes: started, restarted after ever longer pauses if they die, and stopped within a bound."""

import logging
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from densephrases.errors import ServiceError

_POLL_SECONDS = 0.5
_MEANINGS = {
    "SIGBUS": "a file of the index or of the model was changed in place; replace files, never change them",
    "SIGKILL": "killed from outside, maybe for want of memory",
}

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartPolicy:
    """When a worker that died is replaced.

    Attributes:
        first_seconds: Before the first restart; every further one in a row waits twice as long.
        longest_seconds: The longest wait.
        steady_seconds: A worker that lived longer did not die in a row with the one before.
        most: Deaths in a row after which no further worker is started.
    """

    first_seconds: float = 1.0
    longest_seconds: float = 30.0
    steady_seconds: float = 60.0
    most: int = 5

    def pause(self, deaths: int) -> float:
        return float(min(self.first_seconds * 2 ** (deaths - 1), self.longest_seconds))


@dataclass(slots=True)
class _Place:
    """A worker and its predecessors."""

    process: BaseProcess
    started: float
    reasons: list[str] = field(default_factory=list)  # of the deaths in a row
    restart_at: float | None = None


class Workers:
    """Processes that run a function until they are stopped.

    Args:
        target: Called in each process with its arguments and an event that it sets once it has started.
        arguments: Of each process.
        stop_seconds: How long a process may take to stop; then it is killed.
        policy: Of restarts.
        died: Called with the process id of each worker that died.
    """

    def __init__(
        self,
        target: Callable[..., None],
        arguments: Sequence[tuple[Any, ...]],
        *,
        stop_seconds: float,
        policy: RestartPolicy | None = None,
        died: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._target = target
        self._arguments = arguments
        self._stop_seconds = stop_seconds
        self._policy = policy or RestartPolicy()
        self._died = died
        self._context: Any = get_context("spawn")
        self._ready = self._context.Event()  # set once any worker has started
        self._stopping = False

    def run(self) -> None:
        """Until SIGTERM or SIGINT; raises ServiceError if workers cannot start, or die again and again."""
        for stop in (signal.SIGINT, signal.SIGTERM):
            signal.signal(stop, self._stop)
        places = [_Place(self._started(number), time.monotonic()) for number in range(len(self._arguments))]
        try:
            while not self._stopping:
                alive = [place.process.sentinel for place in places if place.restart_at is None]
                wait(alive, timeout=self._timeout(places))
                for number, place in enumerate(places):
                    self._look_after(number, place)
        finally:
            self._end([place.process for place in places])

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _timeout(self, places: Sequence[_Place]) -> float:
        restarts = [place.restart_at - time.monotonic() for place in places if place.restart_at is not None]
        return max(min([_POLL_SECONDS, *restarts]), 0.01)

    def _look_after(self, number: int, place: _Place) -> None:
        if self._stopping:
            return
        if place.restart_at is None and place.process.exitcode is not None:
            self._bury(place, time.monotonic())
        elif place.restart_at is not None and place.restart_at <= time.monotonic():
            place.process, place.started, place.restart_at = self._started(number), time.monotonic(), None

    def _bury(self, place: _Place, now: float) -> None:
        reason = reason_of(place.process.exitcode or 0)
        log.error("worker %s ended %s", place.process.pid, reason)
        if not self._ready.is_set():
            raise ServiceError(f"A worker could not start: it ended {reason}.")
        self._died(place.process.pid or 0)
        place.reasons = [*(place.reasons if now - place.started < self._policy.steady_seconds else ()), reason]
        if len(place.reasons) >= self._policy.most:
            reasons = ", then ".join(dict.fromkeys(place.reasons))
            raise ServiceError(f"A worker died {len(place.reasons)} times in a row: it ended {reasons}.")
        pause = self._policy.pause(len(place.reasons))
        log.warning("worker %s is replaced in %g seconds", place.process.pid, pause)
        place.restart_at = now + pause

    def _started(self, number: int) -> BaseProcess:
        arguments = (*self._arguments[number], self._ready)
        process: BaseProcess = self._context.Process(target=self._target, args=arguments, name=f"worker-{number}")
        process.start()
        return process

    def _end(self, processes: Sequence[BaseProcess]) -> None:
        for process in processes:
            process.terminate()
        until = time.monotonic() + self._stop_seconds
        for process in processes:
            process.join(max(until - time.monotonic(), 0))
            if process.exitcode is None:
                log.error("worker %s did not end within %g seconds: it is killed", process.pid, self._stop_seconds)
                process.kill()
                process.join()


def reason_of(exit_code: int) -> str:
    """Why a process ended, as in 'ended by SIGBUS (...)'."""
    if exit_code >= 0:
        return f"with exit code {exit_code}; see the log above" if exit_code else "with exit code 0, unasked"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return f"by {name} ({_MEANINGS[name]})" if name in _MEANINGS else f"by {name}"
