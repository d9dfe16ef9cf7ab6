"""The shards as Ray Serve deployments."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from densephrases.cluster.serve.hedged_calls import HedgedCalls, LoopThread
from densephrases.cluster.serve.payloads import pack
from densephrases.cluster.sharding.shards import Arguments, Shards
from densephrases.index.cancellation import Check, go_on


class RayShards(Shards):
    """Asks one replica of each shard, or two where the first is slow."""

    def __init__(self, calls: Sequence[HedgedCalls], loop: LoopThread) -> None:
        self._calls = calls
        self._loop = loop

    @property
    def count(self) -> int:
        return len(self._calls)

    def ask(self, method: str, calls: Mapping[int, Arguments], seconds: float, check: Check = go_on) -> dict[int, Any]:
        replies: dict[int, Any] = self._loop.run(self._ask(method, calls, seconds), check)
        return replies

    async def _ask(self, method: str, calls: Mapping[int, Arguments], seconds: float) -> dict[int, Any]:
        packed = {id(arguments): pack(arguments) for arguments in calls.values()}  # mostly the same for all
        waiting = [self._calls[shard](method, packed[id(arguments)], seconds) for shard, arguments in calls.items()]
        replies = await asyncio.gather(*waiting, return_exceptions=True)
        pairs = zip(calls, replies, strict=True)
        return {shard: reply for shard, reply in pairs if not isinstance(reply, BaseException)}
