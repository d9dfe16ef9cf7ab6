"""A model folder of version 0.1 in torch: its checkpoint, its task, its graphs, and what is made of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from densephrases.model.config import CONFIG_FILE
from densephrases.model.load import load
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.adapted_folder import export_tasks, read_adaptation_source, save_adapted
from densephrases.nn.checkpoint import WEIGHTS_FILE
from densephrases.nn.onnx.export import export_model
from densephrases.nn.onnx.restore import read_model, restore_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import load_task
from densephrases.quantize.codebooks import CODEBOOKS_FILE, codebooks_path

MODEL = Path(__file__).parents[1] / "fixtures" / "v0_1" / "model"
FINGERPRINT, CODEBOOKS = "747b10eff7b43cde", "308d3fd61ccabd80"
QUESTIONS = ["Where does the Rhine rise?", "When was the tower built?"]


@pytest.fixture
def graphs_only(tmp_path: Path) -> Path:
    """As a bundled model is: without the checkpoint."""
    folder = Path(shutil.copytree(MODEL, tmp_path / "graphs"))
    (folder / WEIGHTS_FILE).unlink()
    return folder


def asked(encoder: Any) -> np.ndarray[Any, Any]:
    return np.asarray(encoder.encode_questions(QUESTIONS).start_BD)


def test_the_checkpoint_computes_what_its_graphs_do() -> None:
    model = PhraseModel.from_pretrained(MODEL)
    assert model.passage_digest() == FINGERPRINT
    assert model.product_quantizer is not None
    assert model.product_quantizer.digest == CODEBOOKS
    np.testing.assert_allclose(asked(model.encoder()), asked(load(MODEL, "fp32", threads=1)), atol=1e-4)


def test_its_task() -> None:
    task = load_task(MODEL, "keywords")
    assert task.passage_fingerprint() == FINGERPRINT
    assert task.config.lexical_weight == 0.25
    found, expected = asked(task.encoder()), asked(load(MODEL, threads=1, task="keywords"))
    assert np.abs(found - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize(("precision", "difference"), [("fp32", 1e-4), ("int8", 0.25)])
def test_its_graphs_lead_back_to_the_network(graphs_only: Path, precision: Any, difference: float) -> None:
    encoder = OnnxEncoder.load(graphs_only, precision, threads=1)
    model = restore_model(encoder)
    assert model.product_quantizer is not None
    assert model.product_quantizer.digest == CODEBOOKS
    expected = asked(encoder)
    assert np.linalg.norm(asked(model.encoder()) - expected) < difference * np.linalg.norm(expected)
    if precision == "fp32":
        assert model.passage_digest() == FINGERPRINT


def test_it_is_saved_under_new_names(tmp_path: Path) -> None:
    model = read_model(MODEL)
    model.save_pretrained(tmp_path / "checkpoint")
    export_model(model, tmp_path / "exported", ("fp32",))
    assert export_tasks(MODEL, tmp_path / "exported") == ["keywords"]
    for folder in (tmp_path / "checkpoint", tmp_path / "exported"):
        assert json.loads((folder / CONFIG_FILE).read_text())["schema_version"] == 2
        assert codebooks_path(folder) == folder / CODEBOOKS_FILE
    exported = load(tmp_path / "exported", threads=1)
    assert (exported.fingerprint, exported.tasks) == (FINGERPRINT, ["keywords"])


@pytest.mark.parametrize("task", [None, "other"])
@pytest.mark.parametrize("has_checkpoint", [True, False])
def test_an_adapted_model_takes_its_codebooks_along(
    graphs_only: Path, tmp_path: Path, task: str | None, has_checkpoint: bool
) -> None:
    source = read_adaptation_source(MODEL if has_checkpoint else graphs_only)
    save_adapted(source.tower, source.folder, tmp_path / "new", task)
    assert codebooks_path(tmp_path / "new") == tmp_path / "new" / CODEBOOKS_FILE
    assert json.loads((tmp_path / "new" / CONFIG_FILE).read_text())["schema_version"] == 2
    made = load(tmp_path / "new", threads=1, task=task)
    assert made.product_quantizer is not None
    assert made.product_quantizer.digest == CODEBOOKS
    assert made.fingerprint == FINGERPRINT
    assert made.tasks == sorted({"keywords", *([task] if task else [])})
    expected = asked(source.encoder)
    assert np.linalg.norm(asked(made) - expected) < 0.1 * np.linalg.norm(expected)
