"""Cached properties that several threads ask for at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

import pytest

from densephrases.built_once import BuiltOnce

THREADS = 6


class Slow:
    def __init__(self, failures: int = 0) -> None:
        self.built = 0
        self.failures = failures

    @BuiltOnce
    def value(self) -> object:
        """What takes long."""
        self.built += 1
        sleep(0.05)
        if self.built <= self.failures:
            raise ZeroDivisionError
        return object()


def test_threads_build_it_once() -> None:
    slow, start = Slow(), Barrier(THREADS)

    def ask(_: int) -> object:
        start.wait(60)
        return slow.value

    with ThreadPoolExecutor(THREADS) as executor:
        values = list(executor.map(ask, range(THREADS)))
    assert slow.built == 1
    assert len(set(map(id, values))) == 1
    assert Slow.value.__doc__ == "What takes long."


def test_a_failed_build_is_not_kept() -> None:
    slow = Slow(failures=1)
    with pytest.raises(ZeroDivisionError):
        _ = slow.value
    assert slow.value is slow.value
    assert slow.built == 2
