"""`densephrases tune lexical` on a random model."""

import json
from pathlib import Path

from densephrases.model.config import ModelConfig
from tests.cli.conftest import Command


def test_the_weight_is_stored(densephrases: Command, model: Path, small_squad: Path, tmp_path: Path) -> None:
    before = ModelConfig.load(model)
    options = ["--index", tmp_path / "index"]
    shown = densephrases("tune", "lexical", model, small_squad, *options, "--questions", "3", "--dry-run")
    assert "3 questions" in shown.out or "2 questions" in shown.out
    assert shown.out.count("chosen") == 1
    assert ModelConfig.load(model) == before
    values = json.loads(densephrases("tune", "lexical", model, small_squad, *options, "--json").out)
    assert values["chosen"] in values["rows"]
    assert ModelConfig.load(model) == before.with_lexical_weight(values["chosen"]["weight"])
