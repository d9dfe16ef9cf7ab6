"""`densephrases tune length` on a random model."""

import json
from pathlib import Path

from densephrases.model.config import ModelConfig
from tests.cli.conftest import Command


def test_the_penalty_is_stored(densephrases: Command, model: Path, small_squad: Path) -> None:
    before = ModelConfig.load(model)
    shown = densephrases("tune", "length", model, small_squad, "--dry-run")
    assert "penalty per character" in shown.out
    assert shown.out.count("chosen") == 1
    assert ModelConfig.load(model) == before
    values = json.loads(densephrases("tune", "length", model, small_squad, "--json").out)
    assert values["chosen"] in values["rows"]
    assert ModelConfig.load(model) == before.with_length_penalty(values["chosen"]["penalty"])
