"""The time left of builds whose end is known: after a tenth of the work the estimate is within a factor of it."""

import random
from collections.abc import Callable
from itertools import accumulate

import pytest

from densephrases.cli.show.time_left import InputPosition, TimeLeft, in_words

Series = list[tuple[float, float]]
"""Seconds and characters done, as they were reported."""


def steady(steps: int = 200) -> Series:
    return [(float(n), float(n)) for n in range(1, steps + 1)]


def slow_start(steps: int = 200) -> Series:
    """A twentieth of the work takes four times as long."""
    seconds = accumulate(4.0 if n < steps / 20 else 1.0 for n in range(steps))
    return [(s, float(n)) for n, s in enumerate(seconds, start=1)]


def uneven(steps: int = 300) -> Series:
    """Chunks of very different speed, as other processes come and go."""
    pick = random.Random(1)  # noqa: S311
    seconds = accumulate(pick.uniform(0.3, 3.0) for _ in range(steps))
    return [(s, float(n)) for n, s in enumerate(seconds, start=1)]


def resumed(steps: int = 300) -> Series:
    """The first thirtieth is in the index already."""
    seconds = accumulate(0.001 if n < steps / 30 else 1.0 for n in range(steps))
    return [(s, float(n)) for n, s in enumerate(seconds, start=1)]


def huge_among_small() -> Series:
    """A file of 50 MB between many of a few kB, encoded in chunks of 130,000 characters."""
    position, seconds = InputPosition(), 0.0
    reports: Series = []
    sizes = [5_000] * 400 + [50_000_000] + [5_000] * 400
    for finished, size in enumerate(sizes, start=1):
        position.read(size)
        for encoded in range(130_000, size, 130_000):
            seconds += 130_000 / 20_000
            reports.append((seconds, position.characters(encoded)))
        seconds += size % 130_000 / 20_000
        position.pass_documents(finished)
        reports.append((seconds, position.characters()))
    assert reports[-1][1] == sum(sizes)
    return reports


@pytest.mark.parametrize(
    ("series", "factor"),
    [(steady, 1.05), (slow_start, 2.5), (uneven, 1.5), (resumed, 2.5), (huge_among_small, 1.2)],
)
def test_estimates_are_within_a_factor_of_the_truth(series: Callable[[], Series], factor: float) -> None:
    reports = series()
    end, total = reports[-1]
    left = TimeLeft(total)
    errors = []
    for seconds, done in reports:
        estimate = left.at(seconds, done)
        if 0.1 * total <= done <= 0.98 * total:
            assert estimate is not None
            errors.append(max(estimate / (end - seconds), (end - seconds) / max(estimate, 1e-9)))
    assert max(errors) < factor


def test_nothing_is_said_before_it_means_something() -> None:
    left = TimeLeft(1000.0)
    assert [left.at(float(n), float(n)) for n in range(1, 10)] == [None] * 9
    assert left.at(10.0, 10.0) == pytest.approx(990.0)
    assert TimeLeft(10.0).at(1.0, 9.0) is None, "one report tells nothing about speed"


def test_a_stall_keeps_the_last_estimate() -> None:
    left = TimeLeft(100.0)
    for n in range(1, 11):
        last = left.at(float(n), float(n))
    assert left.at(30.0, 10.0) is not None
    assert last is not None
    for n in range(31, 60):
        assert (left.at(float(n), 10.0) or 0) >= 0


def test_where_in_a_document() -> None:
    position = InputPosition()
    assert position.characters() == position.share(5) == 0
    position.read(50)
    position.read(1000)
    assert position.characters(25) == 25
    assert position.characters(60) == 50, "whatever was counted"
    position.pass_documents(1)
    assert (position.passed, len(position)) == (1, 1)
    assert position.characters(500) == 550
    assert position.share(500) == 0.5
    position.pass_documents(5)
    assert position.characters() == 1050


def test_a_total_that_turns_out_larger_is_approached() -> None:
    left = TimeLeft(100.0)
    for n in range(1, 51):
        before = left.at(float(n), float(n))
    assert before == pytest.approx(50.0)
    left.total = 200.0
    for n in range(51, 101):
        after = left.at(float(n), float(n))
    assert after == pytest.approx(100.0, rel=0.05)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "about 10 s left"),
        (34.0, "about 30 s left"),
        (89.0, "about 90 s left"),
        (95.0, "about 2 min left"),
        (725.0, "about 12 min left"),
        (2 * 3600 + 700, "about 2 h 10 min left"),
        (3 * 3600 - 90, "about 3 h 0 min left"),
    ],
)
def test_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
