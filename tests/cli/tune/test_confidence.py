"""`densephrases tune confidence` on the bundled model, which is right often enough to be fitted."""

import json
import shutil
from pathlib import Path

from densephrases.data.squad import sample_path
from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve
from tests.cli.conftest import Command


def test_weights_are_stored(densephrases: Command, tmp_path: Path) -> None:
    """The index is kept and found again."""
    model = Path(shutil.copytree(resolve("small"), tmp_path / "model"))
    plain = ModelConfig.load(model).with_confidence(None)
    plain.save(model)
    options = ["--index", tmp_path / "index"]
    result = densephrases("tune", "confidence", model, sample_path(), *options, "--dry-run", "--json")
    assert result.code == 0
    values = json.loads(result.out)
    assert ModelConfig.load(model) == plain, "nothing is stored in a dry run"
    result = densephrases("tune", "confidence", model, sample_path(), *options)
    assert result.code == 0
    assert "calibration error" in result.out
    weights = ModelConfig.load(model).confidence
    assert weights is not None
    assert weights.keys() == values["weights"].keys()
    assert ModelConfig.load(model) == plain.with_confidence(weights)
