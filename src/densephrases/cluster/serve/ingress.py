"""The ingress: the HTTP service of `densephrases serve` in front of the shards of a cluster."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from densephrases.cluster.serve.ray_versions import RayVersions
from densephrases.cluster.serve.settings import ClusterSettings
from densephrases.cluster.sharding.remote_encoder import RemoteEncoder
from densephrases.cluster.sharding.sharded_index import IndexVersion, ShardedIndex
from densephrases.model.load import load
from densephrases.serve.app import create_app
from densephrases.serve.runtime.service import Service


def ingress_builder(settings: ClusterSettings) -> Callable[[], Any]:
    """What makes the ASGI application, in the replica that runs it."""

    def build() -> Any:
        versions = RayVersions(settings.name)
        index = served_index(settings, versions)
        own = replace(settings.service, index=index.path, reload_seconds=settings.reload_seconds)
        service = Service(own, index)
        versions.observe = lambda name, outcome: service.metrics.shard_calls.labels(name, outcome).inc()
        return create_app(service)

    return build


def served_index(settings: ClusterSettings, versions: RayVersions) -> ShardedIndex:
    """The newest version, with the encoder of the service."""
    version: IndexVersion = versions.open(versions.newest())
    model = settings.service.model or version.manifest.settings.model
    call = versions.encoder_call(
        encoder_application(settings.name), settings.replicas, settings.service.deadline_seconds
    )
    encoder = RemoteEncoder(load(model, task=settings.service.task), call)
    return ShardedIndex(version, encoder, versions, settings.shard_seconds)


def encoder_application(name: str) -> str:
    return f"{name}.encoder"


def ingress_application(name: str) -> str:
    return f"{name}.ingress"
