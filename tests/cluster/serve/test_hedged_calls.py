"""Calls of replicas that are slow, fail, or never answer."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from densephrases.cluster.serve.hedged_calls import HedgedCalls, Latencies, LoopThread
from densephrases.cluster.serve.ray_shards import RayShards
from densephrases.errors import DeadlineExceededError

Behaviour = Callable[[int], Any]


class Replicas:
    """The n-th call does what `behaviour` says: it waits so many seconds, raises an exception, or returns a text."""

    def __init__(self, *behaviour: Any) -> None:
        self.behaviour = behaviour
        self.sent: list[tuple[str, bytes, float]] = []
        self.cancelled = 0

    async def __call__(self, method: str, arguments: bytes, seconds: float) -> str:
        self.sent.append((method, arguments, seconds))
        number = len(self.sent) - 1
        wanted = self.behaviour[min(number, len(self.behaviour) - 1)]
        if isinstance(wanted, Exception):
            raise wanted
        if isinstance(wanted, float):
            try:
                await asyncio.sleep(wanted)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        return f"reply {number}"


def call(replicas: Replicas, count: int, seconds: float = 30.0) -> tuple[Any, list[str]]:
    outcomes: list[str] = []
    calls = HedgedCalls("shard-1", replicas, replicas=count, observe=lambda name, outcome: outcomes.append(outcome))
    return asyncio.run(calls("heads", b"packed", seconds)), outcomes


def test_a_reply() -> None:
    replicas = Replicas("at once")
    assert call(replicas, 2) == ("reply 0", ["answered"])
    assert replicas.sent[0][:2] == ("heads", b"packed")
    assert replicas.sent[0][2] <= 30


def test_a_slow_replica_is_not_waited_for() -> None:
    replicas = Replicas(1000.0, "at once")
    assert call(replicas, 2) == ("reply 1", ["hedged", "answered"])
    assert replicas.cancelled == 1


def test_a_slow_replica_that_is_chosen_again_is_not_waited_for() -> None:
    replicas = Replicas(1000.0, 1000.0, "at once")
    assert call(replicas, 2) == ("reply 2", ["hedged", "hedged", "answered"])
    assert replicas.cancelled == 2


def test_a_single_replica_is_asked_once_while_it_works() -> None:
    replicas = Replicas(0.6)
    assert call(replicas, 1) == ("reply 0", ["answered"])


def test_a_failed_replica_is_asked_again() -> None:
    replicas = Replicas(ConnectionError("died"), "at once")
    assert call(replicas, 1) == ("reply 1", ["answered"])


def test_failures_end_after_four_attempts() -> None:
    replicas = Replicas(ConnectionError("died"))
    with pytest.raises(ConnectionError, match="died"):
        call(replicas, 2)
    assert len(replicas.sent) == 4


def test_a_deadline_ends_all_attempts() -> None:
    replicas = Replicas(1000.0)
    with pytest.raises(DeadlineExceededError, match=r"shard-1 did not answer within 0\.5 s"):
        call(replicas, 2, 0.5)
    assert len(replicas.sent) == replicas.cancelled == 2


def test_calls_are_doubled_when_they_are_unusually_slow() -> None:
    latencies = Latencies()
    assert latencies.hedge_after("heads") == 0.25
    for milliseconds in range(1, 101):
        latencies.add("heads", milliseconds / 1000)
    assert latencies.hedge_after("heads") == pytest.approx(2 * 0.096, rel=0.02)
    assert latencies.hedge_after("scope") == 0.25
    for _ in range(100):
        latencies.add("heads", 0.001)
    assert latencies.hedge_after("heads") == 0.02


def test_shards_that_fail_are_left_out() -> None:
    shards = RayShards(
        [HedgedCalls(f"shard-{n}", each, replicas=1) for n, each in enumerate([Replicas("a"), Replicas(OSError("b"))])],
        LoopThread(),
    )
    assert shards.count == 2
    assert shards.ask("heads", {0: (), 1: ()}, 5.0) == {0: "reply 0"}


def test_waiting_ends_when_the_search_is_cancelled() -> None:
    replicas = Replicas(1000.0)
    shards = RayShards([HedgedCalls("shard-1", replicas, replicas=1)], LoopThread())

    def check() -> None:
        if replicas.sent:
            raise DeadlineExceededError("cancelled")

    with pytest.raises(DeadlineExceededError, match="cancelled"):
        shards.ask("heads", {0: ()}, 60.0, check)
