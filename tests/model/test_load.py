"""Models by name and by folder."""

from pathlib import Path

import pytest

from densephrases.errors import ModelError
from densephrases.model import folders
from densephrases.model.load import load
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel


@pytest.fixture
def weights(tiny_model: PhraseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation with one bundled model, and a folder that is none."""
    export_model(tiny_model, tmp_path / "weights" / "small", ("int8",))
    (tmp_path / "weights" / "unfinished").mkdir()
    monkeypatch.setattr(folders, "BUNDLED_FOLDER", tmp_path / "weights")
    return tmp_path / "weights"


def test_by_name_and_by_folder(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load().folder == weights / "small"
    assert load("small", threads=1).threads == 1
    assert load(weights / "small").precision == "int8"
    assert load(str(weights / "small")).folder == weights / "small"
    monkeypatch.chdir(weights.parent)
    assert load("weights/small").encode_questions(["who"]).start_BD.shape == (1, 32)


def test_unknown_name(weights: Path) -> None:
    assert folders.bundled_names() == ["small"]
    with pytest.raises(ModelError, match=r"'large'.*bundled model \('small'\)"):
        load("large")


def test_missing_folder_is_called_a_folder(weights: Path) -> None:
    with pytest.raises(ModelError, match="Model folder 'models/mine' does not exist"):
        load("models/mine")
    with pytest.raises(ModelError, match="Model folder 'mine' does not exist"):
        load(Path("mine"))


def test_nothing_bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "BUNDLED_FOLDER", tmp_path / "weights")
    with pytest.raises(ModelError, match="none in this installation"):
        load("small")
