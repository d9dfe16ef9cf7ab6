"""Seconds by stage."""

import pytest

from densephrases.search.timings import Timings


def test_stages_add_up_and_the_rest_is_what_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 3.0, 10.0, 20.0, 25.0])
    monkeypatch.setattr("densephrases.search.timings.perf_counter", lambda: next(clock))
    timings = Timings()
    with timings.measured("total"), timings.measured("encode"):
        pass
    with timings.measured("total"):
        pass
    assert (timings.total, timings.encode, timings.rest) == (15.0, 2.0, 13.0)


def test_a_failed_stage_counts() -> None:
    timings = Timings()
    with pytest.raises(ZeroDivisionError), timings.measured("window"):
        raise ZeroDivisionError
    assert timings.window > 0
