"""A connection to Ray: a cluster that runs already, or one on this machine that ends with the work."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from densephrases.errors import ClusterError, ConfigError, MissingExtraError, first_line

_OBJECTS = 100 << 20  # bytes of the object store of a cluster on this machine; only small messages pass through it
_CLIENT = "ray://"
_STARTS = 3
_SLOW = "timed out during startup"  # after 30 s, which a busy machine may need


@dataclass(frozen=True, slots=True)
class NodeResources:
    """What one machine of the cluster offers."""

    name: str
    cpus: int
    gpus: float


def require_ray() -> None:
    """Raise MissingExtraError if Ray is not installed."""
    if missing := [name for name in ("ray", "fsspec") if find_spec(name) is None]:
        raise MissingExtraError(
            f"This needs {' and '.join(missing)}, which is not installed: pip install 'densephrases[ray]'"
        )


@contextmanager
def connected(address: str | None = None, cpus: int | None = None) -> Iterator[None]:
    """Connect to Ray; a connection that this process has already is used and left open.

    Ray's logs stay in its own files (/tmp/ray), and its usage statistics are off.

    Args:
        address: Of a running cluster, as HOST:PORT, or 'auto' for that of this machine; None starts one on this
            machine, which ends with the block.
        cpus: Cores of a cluster that is started here; None takes all.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: There is no cluster, or it runs another version of Ray or Python.
    """
    require_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "60")  # a busy machine takes longer than Ray waits for
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else Ray warns of what it will do by default
    import ray

    if ray.is_initialized():
        yield
        return
    _connect(address, cpus)
    try:
        yield
    finally:
        ray.shutdown()


def _connect(address: str | None, cpus: int | None) -> None:
    import ray

    if address is not None and address.startswith(_CLIENT):
        raise ConfigError(
            f"address='{address}' is that of a Ray client; run the command on a machine of the cluster and give "
            "'auto', or HOST:PORT of its head."
        )
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is None:
        settings |= {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": _OBJECTS}
    for attempt in range(1, _STARTS + 1):
        try:
            ray.init(address=address or "local", **settings)
            return
        except Exception as error:  # Ray raises plain ones as well
            ray.shutdown()
            if address is not None or attempt == _STARTS or _SLOW not in str(error):
                raise ClusterError(_unreachable(address, error)) from error


def _unreachable(address: str | None, error: Exception) -> str:
    if address is None:
        return f"Ray cannot start on this machine: {first_line(error)}."
    if "ersion mismatch" in str(error):
        python = ".".join(map(str, sys.version_info[:3]))
        said = " ".join(str(error).split())[:300]
        return f"The cluster at '{address}' runs other versions than this Python {python}: {said}"
    return (
        f"There is no Ray cluster at '{address}' ({first_line(error)}); start one with `ray start --head`, or leave "
        "--address out to work on this machine alone."
    )


def nodes() -> list[NodeResources]:
    """The machines of the cluster that are alive, by name."""
    import ray

    alive = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    found = [
        NodeResources(
            node["NodeManagerHostname"], int(node["Resources"].get("CPU", 0)), node["Resources"].get("GPU", 0.0)
        )
        for node in alive
    ]
    return sorted(found, key=lambda node: node.name)
