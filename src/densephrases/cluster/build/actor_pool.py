"""Actors on Ray that take jobs from a queue, one each at a time; what a lost actor had goes back to the queue."""

import logging
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from densephrases.cluster.build.encoder_actor import EncoderActor, EncoderOptions
from densephrases.cluster.build.encoder_share import EncoderShare
from densephrases.errors import ClusterError, DensePhrasesError, PhraseIndexError, first_line
from densephrases.index.progress import Progress
from densephrases.index.settings import IndexSettings
from densephrases.version import __version__

ATTEMPTS = 4  # of one job, and of starting an actor
_WAIT_SECONDS = 0.5
_PENDING_SECONDS = 30.0  # after which it is told that actors wait for resources
_RAISED = re.compile(r"^ *((?!Rpc|Ray)[\w.]*Error: .*)$", re.MULTILINE)  # the end of a traceback
_log = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class Job:
    """A call of a method of any actor; `name` is for messages."""

    method: str
    arguments: tuple[Any, ...]
    name: str
    failures: int = 0


@dataclass(eq=False, slots=True)
class _Member:
    """An actor, and what it is doing: first its check, then jobs."""

    actor: Any
    running: Any  # the reference of the check or of a job
    job: Job | None = None
    is_ready: bool = False
    asked: Any = None  # the reference of a question about progress
    now: Progress = field(default_factory=Progress)


class ActorPool:
    """As many encoder actors as there is room for; a lost one is replaced when there is room again."""

    def __init__(self, share: EncoderShare, encoder: EncoderOptions, sources: Sequence[str]) -> None:
        self.share = share
        self._encoder = encoder
        self._sources = list(sources)
        self._members: list[_Member] = []
        self._failed_starts = 0
        self._settings: IndexSettings | None = None
        self._waiting_since = time.monotonic()
        self._told = False

    @property
    def encoders(self) -> int:
        """Those that are ready."""
        return sum(member.is_ready for member in self._members)

    def running(self) -> list[Progress]:
        """What the actors are doing just now."""
        return [member.now for member in self._members if member.job is not None]

    def settings(self, tick: Callable[[], None]) -> IndexSettings:
        """Of the index, as soon as an actor is ready."""
        while self._settings is None:
            self._step(deque(), lambda job, result: None, tick)
        return self._settings

    def run(self, jobs: Sequence[Job], done: Callable[[Job, Any], None], tick: Callable[[], None]) -> None:
        """Run all jobs; `done` takes their results as they come, `tick` is called at least every second.

        Raises:
            DensePhrasesError: An actor returned it, or a job failed or lost its actor again and again.
        """
        queue = deque(jobs)
        left = len(queue)

        def counted(job: Job, result: Any) -> None:
            nonlocal left
            left -= 1
            done(job, result)

        while left:
            self._step(queue, counted, tick)

    def _step(self, queue: deque[Job], done: Callable[[Job, Any], None], tick: Callable[[], None]) -> None:
        self._fill()
        for member in self._members:
            if member.is_ready and member.job is None and queue:
                member.job = queue.popleft()
                member.running = getattr(member.actor, member.job.method).remote(*member.job.arguments)
        busy = {member.running: member for member in self._members if member.running is not None}
        finished, _ = ray.wait(list(busy), num_returns=1, timeout=_WAIT_SECONDS)
        for reference in finished:
            self._finish(busy[reference], queue, done)
        self._ask()
        self._tell_waiting()
        tick()

    def _fill(self) -> None:
        while len(self._members) < self.share.encoders:
            made = ray.remote(EncoderActor).options(
                num_cpus=self.share.cpus, num_gpus=self.share.gpus, max_restarts=0, max_concurrency=2
            )
            actor: Any = made.remote(self._encoder)
            self._members.append(_Member(actor, actor.check.remote(__version__, self._sources)))

    def _finish(self, member: _Member, queue: deque[Job], done: Callable[[Job, Any], None]) -> None:
        job, member.job = member.job, None
        reference, member.running = member.running, None
        member.now = Progress()
        try:
            result = ray.get(reference)
        except RayTaskError as error:
            if not member.is_ready:
                self._lose(member)
            self._failed(job, error.cause if isinstance(error.cause, Exception) else error, queue)
            return
        except RayError as error:
            self._lose(member)
            self._failed(job, error, queue)
            return
        if isinstance(result, DensePhrasesError):
            raise result
        if job is not None:
            done(job, result)
            return
        self._ready(member, result)

    def _ready(self, member: _Member, settings: IndexSettings) -> None:
        member.is_ready = True
        self._failed_starts = 0
        if self._settings is not None and (name := self._settings.first_difference(settings)):
            raise ClusterError(
                f"The model '{self._encoder.model}' differs between nodes ({name}); copy the same model to all."
            )
        self._settings = self._settings or settings

    def _failed(self, job: Job | None, error: Exception, queue: deque[Job]) -> None:
        reason = _reason(error)
        if job is None:
            self._failed_starts += 1
            if self._failed_starts >= ATTEMPTS:
                raise ClusterError(
                    f"Encoders cannot start: {reason}; densephrases {__version__} with the extra 'ray' must be "
                    "installed on every node."
                ) from error
            return
        job.failures += 1
        if job.failures >= ATTEMPTS:
            raise PhraseIndexError(
                f"{job.name} failed {ATTEMPTS} times, at last with: {reason}; what is done is kept."
            ) from error
        _log.warning("%s is tried again: %s", job.name, reason)
        queue.appendleft(job)

    def _lose(self, member: _Member) -> None:
        self._members.remove(member)
        with suppress(RayError, ValueError):
            ray.kill(member.actor)

    def _ask(self) -> None:
        """For progress, without waiting for answers."""
        for member in self._members:
            if member.job is None:
                continue
            if member.asked is not None and ray.wait([member.asked], timeout=0)[0]:
                with suppress(RayError):
                    member.now = ray.get(member.asked)
                member.asked = None
            if member.asked is None:
                member.asked = member.actor.progress.remote()

    def _tell_waiting(self) -> None:
        if self.encoders:
            self._waiting_since, self._told = time.monotonic(), False
        elif not self._told and time.monotonic() - self._waiting_since > _PENDING_SECONDS:
            self._told = True
            _log.warning(
                "No encoder has started for %.0f s: each needs %g cores and %g GPUs of one node.",
                _PENDING_SECONDS,
                self.share.cpus,
                self.share.gpus,
            )

    def stop(self) -> None:
        """End all actors at once."""
        for member in list(self._members):
            self._lose(member)


def _reason(error: Exception) -> str:
    if isinstance(error, RayActorError):
        raised = _RAISED.findall(str(error))
        return raised[-1] if raised else "its worker or node was lost"
    return f"{type(error).__name__}: {first_line(error)}"
