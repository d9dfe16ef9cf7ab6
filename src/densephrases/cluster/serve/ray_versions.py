"""The versions of an index that a Ray cluster serves: each is an application of its own, whose name says when."""

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from densephrases.cluster.serve.deployments import VersionDescription
from densephrases.cluster.serve.hedged_calls import HedgedCalls, LoopThread, Observe
from densephrases.cluster.serve.payloads import pack, unpacked
from densephrases.cluster.serve.ray_shards import RayShards
from densephrases.cluster.sharding.sharded_index import IndexVersion, IndexVersions
from densephrases.errors import ClusterError
from densephrases.index.manifest import Manifest

ENCODER = "encoder"
_DIGEST_DIGITS = 8
_DESCRIBE_SECONDS = 30.0


def version_name(service: str, manifest: Manifest, beside: Mapping[str, bytes]) -> str:
    """Versions in the order of their names are in the order of time."""
    return f"{service}-{datetime.now(UTC):%Y%m%dT%H%M%S}-{content_digest(manifest, beside)}"


def content_digest(manifest: Manifest, beside: Mapping[str, bytes]) -> str:
    """Tells versions of an index apart, by what they hold."""
    return sha256(repr((manifest, sorted(beside.items()))).encode()).hexdigest()[:_DIGEST_DIGITS]


def digest_of(name: str) -> str:
    """That of the version with this name."""
    return name.rpartition("-")[2]


def shard_name(number: int) -> str:
    return f"shard-{number + 1}"


def running_versions(service: str) -> list[str]:
    """Oldest first."""
    from ray import serve

    applications = serve.status().applications
    return sorted(
        name
        for name, status in applications.items()
        if name.startswith(f"{service}-") and status.status in ("RUNNING", "UNHEALTHY")
    )


class RayVersions(IndexVersions):
    """Versions as they are seen from inside the cluster.

    Args:
        service: What names of versions begin with.
        observe: Called with what became of each call.
    """

    def __init__(self, service: str, observe: Observe = lambda name, outcome: None) -> None:
        self._service = service
        self._loop = LoopThread()
        self.observe = observe
        self._folders: list[tempfile.TemporaryDirectory[str]] = []

    def newest(self) -> str:
        versions = running_versions(self._service)
        if not versions:
            raise ClusterError(
                f"No version of '{self._service}' is served; start one with `densephrases cluster serve`."
            )
        return versions[-1]

    def open(self, name: str) -> IndexVersion:
        from ray import serve

        async def describe() -> VersionDescription:
            described: VersionDescription = await serve.get_app_handle(name).describe.remote()
            return described

        described = self._loop.run(asyncio.wait_for(describe(), _DESCRIBE_SECONDS))
        folder = tempfile.TemporaryDirectory(prefix="densephrases-")
        self._folders.append(folder)  # removed with the process
        path = Path(folder.name)
        described.manifest.save(path)
        for file, content in described.beside.items():
            (path / file).write_bytes(content)
        shards = RayShards(
            [self.calls(name, shard_name(number), described.replicas) for number in range(described.shards)], self._loop
        )
        return IndexVersion(name, path, described.manifest, shards)

    def encoder_call(self, name: str, replicas: int, seconds: float) -> Callable[[str, tuple[Any, ...]], Any]:
        """Calls of the encoder of a service."""
        calls = self.calls(name, ENCODER, replicas)
        return lambda method, arguments: self._loop.run(calls(method, pack(arguments), seconds))

    def calls(self, application: str, deployment: str, replicas: int) -> HedgedCalls:
        from ray import serve

        handle = serve.get_deployment_handle(deployment, app_name=application)

        async def send(method: str, arguments: bytes, seconds: float) -> Any:
            return unpacked(await handle.ask.remote(method, arguments, seconds))

        def observe(name: str, outcome: Any) -> None:
            self.observe(name, outcome)

        return HedgedCalls(deployment, send, replicas=replicas, observe=observe)
