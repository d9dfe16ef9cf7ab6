"""Asking the shards of an index: who did not answer, and whether the others are enough."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from densephrases.errors import ShardsUnavailableError
from densephrases.index.cancellation import Check, go_on

Arguments = tuple[Any, ...]
MOST_SECONDS = 60.0  # of a request without a deadline


class Shards(ABC):
    """The shards of one version of an index, wherever they are."""

    @property
    @abstractmethod
    def count(self) -> int: ...

    @abstractmethod
    def ask(self, method: str, calls: Mapping[int, Arguments], seconds: float, check: Check = go_on) -> dict[int, Any]:
        """What `method` of some shards returns; shards that fail, or take longer, are left out.

        Args:
            method: Of `Shard`.
            calls: The arguments for each shard that is asked.
            seconds: That a shard has.
            check: Called while waiting; what it raises ends that.
        """


class ShardSession:
    """The shards during one search: one that has failed is not asked again.

    Args:
        shards: All of them.
        allow_partial: Whether answers of some shards are better than none.
        seconds: What is left for a call.
    """

    def __init__(
        self, shards: Shards, *, allow_partial: bool = False, seconds: Callable[[], float] = lambda: MOST_SECONDS
    ) -> None:
        self._shards = shards
        self._allow_partial = allow_partial
        self._seconds = seconds
        self.failed: set[int] = set()

    @property
    def complete(self) -> bool:
        return not self.failed

    @property
    def asked(self) -> list[int]:
        """The shards that have not failed."""
        return [shard for shard in range(self._shards.count) if shard not in self.failed]

    def ask_all(self, method: str, *arguments: Any, check: Check = go_on) -> dict[int, Any]:
        return self.ask(method, dict.fromkeys(self.asked, arguments), check)

    def ask(self, method: str, calls: Mapping[int, Arguments], check: Check = go_on) -> dict[int, Any]:
        """The replies by shard, in their order; those that fail are missing, or raise ShardsUnavailableError."""
        if not calls:
            return {}
        check()
        replies = self._shards.ask(method, calls, self._seconds(), check)
        check()
        self.failed |= calls.keys() - replies.keys()
        if self.failed and (not self._allow_partial or len(self.failed) == self._shards.count):
            raise ShardsUnavailableError(self.failed, self._shards.count)
        return {shard: replies[shard] for shard in sorted(replies)}
