"""`densephrases cluster serve`: the HTTP service in front of an index in shards."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.cluster.address import Address
from densephrases.cli.extras import require
from densephrases.cli.flags import flags_named
from densephrases.cli.lines import counted
from densephrases.cli.serving.service_options import address_of, configure_log, warn_without_keys, with_service_options
from densephrases.serve.settings import ServiceSettings

Place = Annotated[str, typer.Argument(metavar="INDEX", help="Folder that all machines see, or a URL.")]
Shards = Annotated[int, typer.Option(help="Parts of the index, each with some of its segments.")]
Replicas = Annotated[int, typer.Option(help="Copies of each shard, of the question encoder and of the ingress.")]
CpusPerReplica = Annotated[float, typer.Option(help="Cores for each copy of a shard or of the encoder.")]
ShardDeadline = Annotated[
    float, typer.Option(help="Seconds until a shard is given up: answers are then partial, or an error.")
]
Name = Annotated[str, typer.Option(help="Name of the service; several may run on one cluster.")]
Cache = Annotated[
    Path | None, typer.Option(help="Folder on each machine for what is fetched from a URL [default: the user's cache].")
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Leave the service running and return; changes are not served any more.")
]
_FLAGS = {"cpus": "--cpus-per-replica", "shard_seconds": "--shard-deadline"}


@with_service_options
def serve(
    place: Place,
    *,
    shards: Shards = 1,
    replicas: Replicas = 1,
    address: Address = None,
    cpus_per_replica: CpusPerReplica = 1.0,
    shard_deadline: ShardDeadline = 3.0,
    name: Name = "densephrases",
    cache: Cache = None,
    detach: Detach = False,
    host: str,
    port: int,
    settings: ServiceSettings,
) -> None:
    """Serve an index in shards on a Ray cluster, over the same HTTP API as `densephrases serve`.

    Changes to the index are served as soon as they are written. Ctrl-C stops the service, unless it was detached.
    """
    from densephrases.cluster.connection import require_ray
    from densephrases.cluster.serve.settings import ClusterSettings

    require("serve", "fastapi", "uvicorn", "prometheus_client")
    require_ray()
    with flags_named(_FLAGS):
        deployed = ClusterSettings(
            place=_whole(place),
            service=settings,
            name=name,
            shards=shards,
            replicas=replicas,
            cpus=cpus_per_replica,
            shard_seconds=shard_deadline,
            **({} if cache is None else {"cache": cache.resolve()}),
        )
    from densephrases.cluster.connection import connected
    from densephrases.cluster.serve.rollout import Rollout, needed_cpus

    configure_log()
    rollout = Rollout(deployed)
    rollout.check()
    with connected(address, needed_cpus(deployed)):
        documents = rollout.start(host, port)
        warn_without_keys(host, settings.keys)
        how = f"`densephrases cluster stop --name {name}` stops" if detach else "Ctrl-C stops"
        served = f"{counted(documents, 'document')} in {counted(shards, 'shard')}"
        typer.echo(f"Serving {served} at {address_of(host, port)}; {how}.")
        if detach:
            return
        try:
            rollout.watch()
        finally:
            rollout.stop()


def _whole(place: str) -> str:
    """Processes elsewhere have other working directories."""
    return place if "://" in place else str(Path(place).resolve())
