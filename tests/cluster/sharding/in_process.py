"""Shards in this process, which may fail."""

import pickle
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from densephrases.cluster.sharding.shard import Shard
from densephrases.cluster.sharding.shards import Arguments, Shards
from densephrases.index.cancellation import Check, go_on
from tests.search.made_up import MemoryIndex


class ShardsInProcess(Shards):
    """What is sent is pickled, as it is between processes."""

    def __init__(self, shards: list[Shard], failing: Mapping[str, set[int]] | None = None) -> None:
        self.shards = shards
        self.failing = dict(failing or {})
        self.calls: list[tuple[str, int]] = []
        self.seconds: list[float] = []  # that they had

    @property
    def count(self) -> int:
        return len(self.shards)

    def ask(self, method: str, calls: Mapping[int, Arguments], seconds: float, check: Check = go_on) -> dict[int, Any]:
        replies = {}
        self.seconds.append(seconds)
        for shard, arguments in calls.items():
            self.calls.append((method, shard))
            if shard not in self.failing.get(method, ()):
                given = pickle.loads(pickle.dumps(arguments))  # noqa: S301
                replies[shard] = pickle.loads(pickle.dumps(getattr(self.shards[shard], method)(*given)))  # noqa: S301
        return replies


def split(index: MemoryIndex, parts: int) -> list[Shard]:
    """Consecutive segments of an index, some of which may be none at all."""
    edges = np.linspace(0, len(index.segments), parts + 1).astype(int).tolist()
    return [
        Shard(MemoryIndex(index.made[first:last], index.deleted[first:last]), first) for first, last in pairwise(edges)
    ]
