"""A Ray cluster of several raylets on this machine, for tests that are marked `cluster`."""

import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

T = TypeVar("T")
_STARTS = 4
_OBJECTS = 80 << 20
_DEATH = {"health_check_initial_delay_ms": 2000, "health_check_period_ms": 1000, "health_check_failure_threshold": 3}
_QUIET = ("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ray leaves sockets and processes to the garbage collector, which is not our fault."""
    for item in items:
        if item.get_closest_marker("cluster"):
            for each in (*_QUIET, "ignore::pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(each))


@contextmanager
def ray_cluster(nodes: int, cpus: int = 1) -> Iterator["Cluster"]:
    """A head without cores and so many nodes of some cores; this process is not connected."""
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": _OBJECTS, "include_dashboard": False, "_system_config": _DEATH}
    before = _children()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            cluster = _tried(lambda: Cluster(initialize_head=True, head_node_args=dict(head)))
            for _ in range(nodes):
                add_node(cluster, cpus)
            yield cluster
            ray.shutdown()
            cluster.shutdown()  # type: ignore[no-untyped-call]
        finally:
            for process in _children() - before:  # of nodes that did not start
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


def add_node(cluster: "Cluster", cpus: int = 1) -> None:
    _tried(lambda: cluster.add_node(num_cpus=cpus, object_store_memory=_OBJECTS))


def _tried(start: Callable[[], T]) -> T:
    """A node gives up if the machine is too busy to start all of its processes within half a minute."""
    for _ in range(_STARTS - 1):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error):
                raise
    return start()


def _children() -> set[int]:
    """Processes that this one has started and that run."""
    found = set()
    for process in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            state, parent, *_ = (process / "stat").read_text().rpartition(")")[2].split()
            if int(parent) == os.getpid() and state != "Z":
                found.add(int(process.name))
    return found
