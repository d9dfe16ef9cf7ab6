"""Ctrl-C during a write waits for its end."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from densephrases.index.build.interrupts import held_interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal to itself")


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def write_interrupted(times: int, done: list[int]) -> None:
    with held_interrupts():
        for _ in range(times):
            interrupt()
        done.append(times)


def test_it_takes_effect_at_the_end() -> None:
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        write_interrupted(1, done)
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_acts_at_once() -> None:
    done: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        write_interrupted(2, done)
    assert not done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_any_nothing_happens() -> None:
    with held_interrupts():
        pass
    with pytest.raises(ValueError, match="its own"), held_interrupts():
        raise ValueError("its own")


def test_ignored_signals_stay_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held_interrupts():
        interrupt()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_hold_nothing() -> None:
    seen = []

    def work() -> None:
        with held_interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
