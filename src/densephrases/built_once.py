"""Cached properties of objects that threads share."""

from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import Any, Self, TypeVar, overload

Value = TypeVar("Value")


class BuiltOnce(cached_property[Value]):
    """A cached property that is built once, however many threads ask for it; others wait until it is there.

    If building it raises, the next who asks builds it.
    """

    def __init__(self, build: Callable[[Any], Value]) -> None:
        super().__init__(build)
        self._building = RLock()

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Self | Value:
        if instance is None:
            return self
        with self._building:
            return super().__get__(instance, owner)
