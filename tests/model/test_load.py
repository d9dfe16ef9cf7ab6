"""Models by name and by folder."""

from pathlib import Path

import numpy as np
import pytest

from densephrases.errors import ModelError
from densephrases.model import folders
from densephrases.model.load import load
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.sample import SAMPLE_QUESTIONS
from densephrases.text.passages import Passage


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


def test_vectors_of_the_bundled_model_do_not_depend_on_the_batch() -> None:
    """Up to rounding, which the order of sums may change; scales of a whole batch moved them by a twentieth."""
    questions = [sample.question for sample in SAMPLE_QUESTIONS]
    passages = [Passage(question.upper(), "Title") for question in questions]
    passages.append(Passage(" ".join(questions), "All of them"))
    encoders = [load("small", threads=threads) for threads in (1, 2)]
    first = encoders[0].encode_questions(questions)
    length = float(np.linalg.norm(first.start_BD, axis=1).min())
    for encoder in encoders:
        together = encoder.encode_questions(questions)
        alone = np.concatenate([encoder.encode_questions([question]).start_BD for question in questions])
        for found in (together.start_BD, alone):
            assert np.abs(found - first.start_BD).max() < 1e-3 * length
        for whole, one in zip(encoder.encode_passages(passages), passages, strict=True):
            assert np.abs(whole.vectors_TD - encoder.encode_passages([one])[0].vectors_TD).max() < 1e-3 * length
