"""How an index is served on a cluster."""

from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_cache_path

from densephrases.errors import ConfigError
from densephrases.serve.settings import ServiceSettings

_LEAST_RELOAD_SECONDS = 5.0  # Ray computes for a tenth of a second to say what runs


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """What is deployed.

    Attributes:
        place: Folder that all machines see, or URL, of the index.
        name: Of the service; several may run on one cluster.
        shards: Parts of the index.
        replicas: Of each shard, of the encoder and of the ingress.
        cpus: Cores of a replica of a shard or of the encoder.
        shard_seconds: That a shard has for one call.
        cache: Folder on each machine for what is fetched from a URL.
        service: Of the HTTP service.
    """

    place: str
    service: ServiceSettings
    name: str = "densephrases"
    shards: int = 1
    replicas: int = 1
    cpus: float = 1.0
    shard_seconds: float = 3.0
    cache: Path = field(default_factory=lambda: user_cache_path("densephrases") / "served")

    def __post_init__(self) -> None:
        for name in ("shards", "replicas"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} is out of range; expected at least 1.")
        for name in ("cpus", "shard_seconds"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name}={getattr(self, name)} is out of range; expected more than 0.")
        if not self.name.isidentifier():
            raise ConfigError(f"name={self.name!r} is no name of a service; expected letters, digits and '_'.")

    @property
    def reload_seconds(self) -> float:
        """How often an ingress looks for a newer version."""
        return max(self.service.reload_seconds, _LEAST_RELOAD_SECONDS)
