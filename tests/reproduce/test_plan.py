"""Steps run once; a step without a result is run again."""

import json
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.reproduce.plan import Plan, Result, Step, run_steps


def test_a_stopped_run_goes_on(tmp_path: Path) -> None:
    run: list[str] = []

    def first() -> Result:
        run.append("first")
        return {"exact_match": 1.5}

    def second() -> Result:
        run.append("second")
        if len(run) == 2:
            raise KeyboardInterrupt
        return {"exact_match": 2.5}

    steps = [Step("first", first), Step("second", second)]
    told: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        run_steps(steps, tmp_path, told.append)
    assert run_steps(steps, tmp_path, told.append) == {"first": {"exact_match": 1.5}, "second": {"exact_match": 2.5}}
    assert run == ["first", "second", "second"]
    assert told == ["first", "first: 0 s", "second", "second", "second: 0 s"]
    about = json.loads((tmp_path / "steps" / "first.json").read_text())
    assert about.keys() == {"result", "seconds", "finished", "machine"}


def test_a_damaged_result(tmp_path: Path) -> None:
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "first.json").write_text("[]")
    with pytest.raises(DataError, match=r"is no result of a step: .*; remove it to run the step again"):
        run_steps([Step("first", dict)], tmp_path)


def test_what_is_left_out() -> None:
    plan = Plan()
    plan.leave_out("NQ", "'data' lacks it")
    assert plan.left_out == ["NQ is not run: 'data' lacks it."]
