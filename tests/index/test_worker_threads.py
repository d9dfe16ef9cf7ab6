"""Threads in a pipeline keep the order, hand on what fails, and end."""

import threading

import pytest

from densephrases.index.worker_threads import WorkerThreads


def test_values_go_through_all_steps_in_order() -> None:
    threads = WorkerThreads(lambda value: value + 1, lambda value: 10 * value)
    for value in range(5):
        threads.put(value)
    assert [threads.get() for _ in range(5)] == [10, 20, 30, 40, 50]
    threads.stop()


def test_what_fails_is_raised_once_and_the_rest_is_done() -> None:
    threads = WorkerThreads(lambda value: 1 / value, lambda value: -value)
    for value in (1, 0, 2):
        threads.put(value)
    assert threads.get() == -1
    with pytest.raises(ZeroDivisionError):
        threads.get()
    assert threads.get() == -0.5
    threads.stop()


def test_stopping_drops_what_was_not_begun_and_ends_all_threads() -> None:
    begun, may_end, done = threading.Event(), threading.Event(), list[int]()

    def work(value: int) -> None:
        begun.set()
        may_end.wait()
        done.append(value)

    before = threading.active_count()
    threads = WorkerThreads(work)
    for value in range(3):
        threads.put(value)
    begun.wait()
    stopping = threading.Thread(target=threads.stop)
    stopping.start()
    while not threads._stopped:
        pass
    may_end.set()
    stopping.join()
    assert done == [0]
    assert threading.active_count() == before
