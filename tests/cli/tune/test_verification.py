"""`densephrases tune verification` on a random model that reads."""

import json
from pathlib import Path

import pytest

from densephrases.evaluate.tune import verification
from densephrases.model.config import ModelConfig
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from tests.cli.conftest import Command


@pytest.fixture
def reading_model(tiny_base: Path, tmp_path: Path) -> Path:
    model = PhraseModel.from_base(tiny_base, share=True, reads=True)
    model.config = model.config.with_confidence(
        {"intercept": 0.0, "score": 0.01, "gap": 0.1, "share": 0.1, "temperature": 1.0}
    )
    export_model(model, tmp_path / "reads", ("int8",))
    return tmp_path / "reads"


def test_weights_are_stored(
    densephrases: Command, reading_model: Path, small_squad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A random model is never right, so that what is right is judged in another way here."""
    monkeypatch.setattr(verification, "exact_match", lambda text, gold: float(len(text) % 2))
    before = ModelConfig.load(reading_model)
    options = ["--index", tmp_path / "index", "--passages", "2", "--absent", "0.5"]
    shown = densephrases("tune", "verification", reading_model, small_squad, *options, "--dry-run")
    assert shown.code == 0, shown.err
    assert "verified in 1 passage" in shown.out
    assert shown.out.count("chosen") == 1
    assert ModelConfig.load(reading_model) == before
    values = json.loads(densephrases("tune", "verification", reading_model, small_squad, *options, "--json").out)
    assert values["chosen"] in values["rows"]
    assert values["weights"]["passages"] == 2
    assert ModelConfig.load(reading_model) == before.with_verification(values["weights"])


def test_models_that_do_not_read_are_refused(densephrases: Command, model: Path, small_squad: Path) -> None:
    result = densephrases("tune", "verification", model, small_squad)
    assert result.code == 2
    assert "has no reading head" in result.err
    result = densephrases("tune", "verification", "small", small_squad)
    assert result.code == 2
    assert "never changed" in result.err
