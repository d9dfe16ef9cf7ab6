"""`densephrases tune filter` on a random model."""

import json
from pathlib import Path

import pytest

from densephrases.evaluate.tune import filter_threshold
from densephrases.model.config import ModelConfig
from tests.cli.conftest import Command


def test_a_dry_run_prints_the_table(densephrases: Command, model: Path, small_squad: Path) -> None:
    before = (model / "config.json").read_bytes()
    result = densephrases("tune", "filter", model, small_squad, "--dry-run")
    assert result.code == 0
    assert result.out.count("chosen") == 1
    assert "none" in result.out
    assert (model / "config.json").read_bytes() == before


def test_the_threshold_is_stored(densephrases: Command, model: Path, small_squad: Path) -> None:
    before = ModelConfig.load(model)
    result = densephrases("tune", "filter", model, small_squad, "--json")
    values = json.loads(result.out)
    after = ModelConfig.load(model)
    assert len(values["rows"]) == 17
    assert values["chosen"] in values["rows"]
    assert before.filter_threshold is None
    assert after.filter_threshold == values["chosen"]["threshold"]
    assert after.filter_threshold is not None
    assert after == before.with_threshold(after.filter_threshold)
    assert not list(model.glob(".*")), "nothing is left of an atomic write"


def test_that_no_threshold_is_good_enough_is_stored(
    densephrases: Command, model: Path, small_squad: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A threshold found for earlier weights must not stay."""
    plain = ModelConfig.load(model)
    plain.with_threshold(1.5).save(model)
    monkeypatch.setattr(
        filter_threshold, "choose_threshold", lambda rows: next(row for row in rows if row.threshold is None)
    )
    result = densephrases("tune", "filter", model, small_squad, "--dry-run", "--json")
    assert json.loads(result.out)["chosen"]["threshold"] is None
    assert ModelConfig.load(model).filter_threshold == 1.5, "not in a dry run"
    result = densephrases("tune", "filter", model, small_squad, "--json")
    assert result.code == 0
    assert ModelConfig.load(model) == plain
    assert plain.filter_threshold is None
