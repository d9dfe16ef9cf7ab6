"""What Ray Serve runs: the encoder, the shards, the description of a version, and the ingress."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from densephrases.cluster.serve.local_copy import local_copy
from densephrases.cluster.serve.payloads import pack, unpacked
from densephrases.cluster.sharding.shard import Shard
from densephrases.index.manifest import Manifest
from densephrases.index.snapshot import Snapshot
from densephrases.model.encoder import Encoder
from densephrases.model.load import load
from densephrases.search.deadline import Deadline

CALLS_AT_ONCE = 8  # of a replica
_STUCK_SECONDS = 30.0  # after its deadline, a call that has not ended has a replica restarted


@dataclass(frozen=True, slots=True)
class VersionDescription:
    """What the ingress has to know of a version.

    Attributes:
        manifest: Of the whole index.
        beside: Contents of small files beside the manifest, such as fitted confidences.
        shards: How many there are.
        replicas: Of each.
    """

    manifest: Manifest
    beside: dict[str, bytes]
    shards: int
    replicas: int


class _Replica(ABC):
    """Answers calls in threads, and asks to be restarted if one of them does not end."""

    def __init__(self) -> None:
        self._until: dict[int, float] = {}
        self._calls = 0

    async def ask(self, method: str, arguments: bytes, seconds: float) -> bytes:
        """What a method returns; arguments and reply are packed."""
        deadline = Deadline.after(seconds)
        self._calls += 1
        call = self._calls
        self._until[call] = monotonic() + seconds

        def work() -> bytes:
            try:
                return pack(self._call(method, unpacked(arguments), deadline))
            finally:
                del self._until[call]

        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            deadline.cancel()
            raise

    @abstractmethod
    def _call(self, method: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any: ...

    def check_health(self) -> None:
        """Called by Ray Serve."""
        if any(until + _STUCK_SECONDS < monotonic() for until in list(self._until.values())):
            raise RuntimeError("a call did not end after its deadline")


class ShardReplica(_Replica):
    """Some segments of an index.

    Args:
        place: Folder or URL of the index.
        manifest: Of these segments alone.
        first: The number that the first of them has in the whole index.
        cache: Folder for what is fetched from a URL.
    """

    _WITH_CHECK = frozenset({"scope", "identified", "heads", "proposals", "around"})

    def __init__(self, place: str, manifest: Manifest, first: int, cache: Path) -> None:
        super().__init__()
        folder, manifest = local_copy(place, manifest, cache)
        self._shard = Shard(Snapshot(folder, manifest, manifest.settings.resolve_pq(None)), first)
        self._shard.counts()

    def _call(self, method: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        checks = (deadline.check,) if method in self._WITH_CHECK else ()
        return getattr(self._shard, method)(*arguments, *checks)


class EncoderReplica(_Replica):
    """Questions to vectors, and passages read together with questions."""

    def __init__(self, model: str, threads: int | None) -> None:
        super().__init__()
        self._model = load(model, threads=threads)
        self._encoders: dict[str | None, Encoder] = {None: self._model}
        self._model.encode_questions(["What is it?"])

    def _call(self, method: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        given, task = arguments
        encoder = self._encoders.setdefault(task, self._model.with_task(task)) if task else self._model
        return encoder.read(given, deadline.check) if method == "read" else encoder.encode_questions(given)


class VersionReplica:
    """Describes a version; the application of the version ends with it.

    Args:
        description: What is said.
        parts: Handles of the other deployments, which Ray Serve starts before this one.
    """

    def __init__(self, description: VersionDescription, *parts: Any) -> None:
        self._description = description
        self._parts = parts

    def describe(self) -> VersionDescription:
        return self._description


def threads_of_cpus(cpus: float) -> int:
    """Threads of a replica with so many cores."""
    return max(int(cpus), 1)
