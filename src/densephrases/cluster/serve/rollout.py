"""Deploys an index on a Ray cluster, and its newer versions as they are written."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import ceil
from time import monotonic, sleep
from typing import Any

from densephrases.cluster.connection import nodes
from densephrases.cluster.serve.deployments import (
    CALLS_AT_ONCE,
    EncoderReplica,
    ShardReplica,
    VersionDescription,
    VersionReplica,
    threads_of_cpus,
)
from densephrases.cluster.serve.ingress import encoder_application, ingress_application, ingress_builder
from densephrases.cluster.serve.ray_versions import (
    ENCODER,
    content_digest,
    digest_of,
    running_versions,
    shard_name,
    version_name,
)
from densephrases.cluster.serve.settings import ClusterSettings
from densephrases.cluster.sharding.assignment import assigned
from densephrases.cluster.storage.fetch import read_manifest
from densephrases.cluster.storage.places import open_store
from densephrases.errors import ClusterError, DensePhrasesError, PhraseIndexError, first_line
from densephrases.index.fitted_confidence import CONFIDENCE_FILE
from densephrases.index.info import IndexInfo
from densephrases.index.manifest import Manifest
from densephrases.serve.runtime.suggested_questions import SUGGESTIONS_FILE

_HEALTH = {"health_check_period_s": 2, "health_check_timeout_s": 10}
_RAY_SERVE_ENVIRONMENT = {
    "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",  # messages take a third of the time
    "RAY_SERVE_ENABLE_DIRECT_INGRESS": "0",  # which that would open: ports of replicas, and 30 s until they end
}
_INGRESS_CPUS = 0.5
_VERSION_CPUS = 0.1
_RETIRE_SECONDS = 15.0  # beside deadline and reload, until the former version is stopped: all of it may be asked yet

log = logging.getLogger(__name__)


class Rollout:
    """The applications of one service."""

    def __init__(self, settings: ClusterSettings) -> None:
        self.settings = settings
        self._failed = ""  # the digest of a version that could not be started, and is not tried again

    def check(self) -> None:
        """Refuse before Ray is started what cannot be served."""
        manifest, _ = self._read()
        assigned([entry.vectors for entry in manifest.segments], self.settings.shards)

    def start(self, host: str, port: int, prefix: str = "/") -> int:
        """Deploy encoder, shards and ingress in the place of those that run.

        Args:
            host: Address that every machine of the cluster listens on.
            port: There.
            prefix: Of the paths of this service, if several share the port.

        Returns:
            The number of documents.
        """
        from ray import serve

        manifest, beside = self._read()
        refuse_few_cpus(self.settings)
        serve.start(
            proxy_location="EveryNode",
            http_options={"host": host, "port": port, "request_timeout_s": self.settings.service.deadline_seconds + 5},
        )
        before = running_versions(self.settings.name)
        self._deploy_encoder(manifest)
        self._deploy_version(manifest, beside)
        self._deploy_ingress(prefix)
        self._retire(before)
        return IndexInfo.from_manifest(manifest).documents

    def watch(self, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Deploy newer versions of the index until it shall end."""
        while goes_on():
            sleep(self.settings.service.reload_seconds)
            try:
                self.update()
            except DensePhrasesError as error:
                log.error("cannot serve the changed index, keep serving the previous one: %s", error)

    def update(self) -> bool:
        """Deploy the index if it has changed; whether it had."""
        manifest, beside = self._read()
        before, digest = running_versions(self.settings.name), content_digest(manifest, beside)
        if digest == self._failed or (before and digest_of(before[-1]) == digest):
            return False
        try:
            self._deploy_version(manifest, beside)
        except ClusterError:
            self._failed = digest
            raise
        self._retire(before)
        return True

    def stop(self) -> None:
        stop_service(self.settings.name)

    def _read(self) -> tuple[Manifest, dict[str, bytes]]:
        place = self.settings.place
        manifest, store, beside = read_manifest(place), open_store(place), {}
        if manifest.building:
            raise PhraseIndexError(f"'{place}' is not finished; finish it before it is served.")
        for file in (CONFIDENCE_FILE, SUGGESTIONS_FILE):
            with suppress(FileNotFoundError):
                beside[file] = store.read(file)
        return manifest, beside

    def _deploy_encoder(self, manifest: Manifest) -> None:
        settings = self.settings
        model, threads = settings.service.model or manifest.settings.model, settings.service.threads
        encoder = self._computing(EncoderReplica, ENCODER)
        self._run(encoder.bind(model, threads or threads_of_cpus(settings.cpus)), encoder_application(settings.name))

    def _deploy_version(self, manifest: Manifest, beside: dict[str, bytes]) -> None:
        settings, shards = self.settings, []
        for number, own in enumerate(assigned([entry.vectors for entry in manifest.segments], settings.shards)):
            part = replace(manifest, segments=manifest.segments[own], unfinished=())
            shard = self._computing(ShardReplica, shard_name(number))
            shards.append(shard.bind(settings.place, part, own.start, settings.cache))
        description = VersionDescription(manifest, beside, settings.shards, settings.replicas)
        version = _deployment(VersionReplica, name="version", cpus=_VERSION_CPUS)
        self._run(version.bind(description, *shards), version_name(settings.name, manifest, beside))

    def _deploy_ingress(self, prefix: str) -> None:
        from ray import serve

        settings = self.settings
        ingress = _deployment(
            serve.ingress(ingress_builder(settings))(),
            name="ingress",
            num_replicas=settings.replicas,
            max_replicas_per_node=self._on_a_node(),
            cpus=_INGRESS_CPUS,
            max_ongoing_requests=settings.service.connections,
        )
        self._run(ingress.bind(), ingress_application(settings.name), prefix)

    def _computing(self, kind: type, name: str) -> Any:
        return _deployment(
            kind,
            name=name,
            num_replicas=self.settings.replicas,
            max_replicas_per_node=self._on_a_node(),
            cpus=self.settings.cpus,
            max_ongoing_requests=CALLS_AT_ONCE,
        )

    def _on_a_node(self) -> int:
        """Replicas are spread over the machines, so that one which is lost takes few of them along."""
        return ceil(self.settings.replicas / max(len(nodes()), 1))

    @staticmethod
    def _run(application: Any, name: str, prefix: str | None = None) -> None:
        """Deploy and wait until it is ready."""
        from ray import serve

        try:
            serve.run(application, name=name, route_prefix=prefix)
        except RuntimeError as error:
            reason = _reason(name) or first_line(error)
            with suppress(Exception):
                serve.delete(name)
            raise ClusterError(f"Ray cannot start '{name}': {reason}") from error

    def _retire(self, versions: list[str]) -> None:
        """Delete former versions once no request can be using them."""
        from ray import serve

        if not versions:
            return
        settings = self.settings.service
        until = monotonic() + settings.deadline_seconds + self.settings.reload_seconds + _RETIRE_SECONDS
        while monotonic() < until:
            sleep(min(0.5, max(until - monotonic(), 0)))
        for name in versions:
            serve.delete(name)


def _deployment(kind: type, cpus: float, **options: Any) -> Any:
    from ray import serve
    from ray.serve.schema import LoggingConfig

    made: Any = serve.deployment(kind)
    return made.options(
        ray_actor_options={"num_cpus": cpus, "runtime_env": {"env_vars": _RAY_SERVE_ENVIRONMENT}},
        logging_config=LoggingConfig(enable_access_log=False),
        **options,
        **_HEALTH,
    )


def _reason(application: str) -> str:
    """What Ray says of a deployment that has failed: the last line of its traceback."""
    from ray import serve

    status = serve.status().applications.get(application)
    said = [each.message.strip() for each in status.deployments.values()] if status else []
    return next((message.splitlines()[-1] for message in said if message), "")


def stop_service(name: str) -> bool:
    """Delete the applications of a service; others of the cluster stay. Whether there were any."""
    from ray import serve

    running = serve.status().applications
    ours = (ingress_application(name), *running_versions(name), encoder_application(name))
    for application in ours:
        if application in running:
            serve.delete(application)
    return any(application in running for application in ours)


def needed_cpus(settings: ClusterSettings) -> int:
    """Cores that Ray must offer: two versions are there while a new one takes over."""
    version = settings.shards * settings.replicas * settings.cpus + _VERSION_CPUS
    return ceil(2 * version + settings.replicas * (settings.cpus + _INGRESS_CPUS))


def refuse_few_cpus(settings: ClusterSettings) -> None:
    there, needed = sum(node.cpus for node in nodes()), needed_cpus(settings)
    if there < needed:
        raise ClusterError(
            f"The cluster has {there} cores, and {settings.shards} shards in {settings.replicas} replicas need {needed}"
            " while a new version takes over; give fewer of them, or a lower --cpus-per-replica."
        )
