"""A fingerprint names the passage encoder: it changes with what makes passage vectors and with nothing else."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from densephrases.checksums import remove_checksums
from densephrases.model.config import CONFIG_FILE, ModelConfig
from densephrases.model.onnx import OnnxEncoder, weights_file
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel


def change(*modules: nn.Module) -> None:
    with torch.no_grad():
        for module in modules:
            next(module.parameters()).add_(0.01)


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        (lambda model: change(model.question_start, model.question_end), True),
        (lambda model: change(model.start_head, model.end_head), True),
        (lambda model: change(model.passage), False),
        (lambda model: change(model.projection), False),
        (lambda model: change(model.filter), False),
    ],
    ids=["question backbones", "question heads", "passage", "projection", "filter"],
)
def test_only_the_passage_tower_counts(tiny_base: Path, changed: Callable[[PhraseModel], None], same: bool) -> None:
    model = PhraseModel.from_base(tiny_base, dim=8)
    before = model.passage_fingerprint()
    changed(model)
    assert (model.passage_fingerprint() == before) == same
    assert model.encoder().fingerprint == model.passage_fingerprint()


def test_export_writes_it_and_a_copy_keeps_it(tiny_model: PhraseModel, tmp_path: Path) -> None:
    export_model(tiny_model, tmp_path, ("fp32",))
    encoder = OnnxEncoder.load(tmp_path)
    assert encoder.fingerprint == tiny_model.passage_fingerprint() == ModelConfig.load(tmp_path).fingerprint
    encoder.config.with_threshold(0.5).save(tmp_path)
    assert OnnxEncoder.load(tmp_path).fingerprint == encoder.fingerprint


def test_folders_exported_before_have_that_of_their_files(tiny_model: PhraseModel, tmp_path: Path) -> None:
    export_model(tiny_model, tmp_path, ("fp32",))
    values = json.loads((tmp_path / CONFIG_FILE).read_text())
    del values["fingerprint"]
    (tmp_path / CONFIG_FILE).write_text(json.dumps(values))
    remove_checksums(tmp_path)
    first = OnnxEncoder.load(tmp_path).fingerprint
    assert len(first) == len(tiny_model.passage_fingerprint())
    assert OnnxEncoder.load(tmp_path).fingerprint == first
    weights = tmp_path / weights_file("fp32")
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    assert OnnxEncoder.load(tmp_path).fingerprint != first
