"""The example that adapts a model, with a tiny one."""

import runpy
import sys
from pathlib import Path

import pytest

from densephrases import PhraseIndex, load
from densephrases.data.squad import sample_path
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel

EXAMPLE = Path(__file__).parents[2] / "examples" / "adapt.py"


def test_key_words() -> None:
    key_words = runpy.run_path(str(EXAMPLE))["key_words"]
    assert key_words("In what year was the tower built?") == "year tower built"
    assert key_words("Who was he?") == "he"
    assert key_words("What is it?") == "What is it?"


def test_it_runs(
    tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    export_model(PhraseModel.from_base(tiny_base, share=True, max_words=2), model, ("int8",))
    places = ["--index", tmp_path / "index", "--model", model, "--out", tmp_path / "adapted", "--task", "key-words"]
    sizes = ["--train", 60, "--dev", 10, "--epochs", 1]
    monkeypatch.setattr(sys, "argv", ["adapt.py", "--data", str(sample_path()), *map(str, [*places, *sizes])])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "Right first answers to key words about other articles:" in capsys.readouterr().out
    assert load(tmp_path / "adapted").tasks == ["key-words"]
    asked = PhraseIndex.open(tmp_path / "index", tmp_path / "adapted", "key-words")
    assert asked.search("tower built year", 1)
