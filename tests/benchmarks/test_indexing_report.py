"""Figures of the benchmark of indexing on a GPU."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from .conftest import Importing


@pytest.fixture
def module(benchmark_module: Importing) -> ModuleType:
    return benchmark_module("indexing_report")


def test_a_run_that_is_cut_off_leaves_what_it_measured(module: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    report = module.Report(file)
    report.add(peak=None, workers=13)
    assert json.loads(file.read_text())["workers"] == 13
    report.add(module.Speed("tokenisers", 2.0, 3_100_000, 4_000_000), vectors=5)
    values = json.loads(file.read_text())
    assert (values["workers"], values["vectors"]) == (13, 5)
    assert [(speed["name"], speed["tokens"]) for speed in values["speeds"]] == [("tokenisers", 3_100_000)]
    assert values["speeds"][0]["wikipedia_hours"] == pytest.approx(2000 / 3600)


def test_the_table_says_whether_the_bar_is_reached(module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    report = module.Report(None)
    report.add(module.Speed("encoder", 2.0, 10, 12, 1e15, 0.59), peak=8e14)
    report.print_table()
    printed = capsys.readouterr().out
    assert "500.0" in printed
    assert "Peak 800 TFLOP/s; the bar of 60% of it is missed." in printed
