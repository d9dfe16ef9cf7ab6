"""What a run writes about itself."""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from densephrases.train.loop import run_log as logs
from densephrases.train.loop.loop import LoopConfig, StepReport
from densephrases.train.loop.run_log import RunLog


@dataclass(frozen=True)
class Recipe:
    base: Path
    loop: LoopConfig


RECIPE = Recipe(Path("models/tiny"), LoopConfig(epochs=2))
REPORT = StepReport(20, 40, 0, {"loss": 1.5, "single": 0.5}, 1e-4, 12.0)


@pytest.fixture
def without_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "find_spec", lambda name: None)


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.mark.usefixtures("without_tensorboard")
def test_json_lines(tmp_path: Path) -> None:
    with RunLog(tmp_path / "new" / "run", RECIPE) as log:
        log.stepped(REPORT)
        assert len(lines(tmp_path / "new" / "run")) == 1, "a line is there as soon as it is written"
        log.evaluated(40, {"f1": 50.0})
        log.finished({"f1": 51.0})
    assert lines(tmp_path / "new" / "run") == [
        {"step": 20, "train": {"loss": 1.5, "single": 0.5, "learning_rate": 1e-4, "per_second": 12.0}},
        {"step": 40, "dev": {"f1": 50.0}},
        {"finished": {"f1": 51.0}},
    ]


@pytest.mark.usefixtures("without_tensorboard")
def test_recipe_is_kept(tmp_path: Path) -> None:
    with RunLog(tmp_path, RECIPE):
        kept = json.loads((tmp_path / "recipe.json").read_text())
    assert kept["base"] == "models/tiny"
    assert kept["loop"]["epochs"] == 2


@pytest.mark.usefixtures("without_tensorboard")
def test_a_resumed_run_adds_to_its_log(tmp_path: Path) -> None:
    for step in (20, 40):
        with RunLog(tmp_path, RECIPE) as log:
            log.evaluated(step, {"f1": 1.0})
    assert [line["step"] for line in lines(tmp_path)] == [20, 40]


@pytest.mark.usefixtures("without_tensorboard")
def test_missing_tensorboard_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), RunLog(tmp_path, RECIPE) as log:
        log.evaluated(1, {"f1": 1.0})
    assert "tensorboard is not installed" in caplog.text


def test_tensorboard_events(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with RunLog(tmp_path, RECIPE) as log:
        log.stepped(REPORT)
        log.evaluated(40, {"f1": 50.0})
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(e.step, e.value) for e in events.Scalars("train/loss")] == [(20, 1.5)]
    assert [(e.step, e.value) for e in events.Scalars("dev/f1")] == [(40, 50.0)]
