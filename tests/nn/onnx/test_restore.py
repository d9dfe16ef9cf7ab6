"""An exported graph leads back to the network it was made from, or is refused."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from densephrases.checksums import remove_checksums
from densephrases.errors import ModelError
from densephrases.model.load import load
from densephrases.model.onnx import OnnxEncoder
from densephrases.model.precision import Precision
from densephrases.nn.onnx.export import export_model
from densephrases.nn.onnx.restore import read_model, restore_model, restore_questions
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower
from tests.nn.made_up import ARCHITECTURES, model_of

QUESTIONS = ["who built the tower", "what is it", "where was the city on the river in the year 1750?"]


@pytest.fixture(params=list(ARCHITECTURES.values()), ids=list(ARCHITECTURES))
def model(request: pytest.FixtureRequest, tiny_base: Path) -> PhraseModel:
    return model_of(tiny_base, **request.param)


def vectors(encoder: Any) -> np.ndarray[Any, Any]:
    found = encoder.encode_questions(QUESTIONS)
    return np.stack([found.start_BD, found.end_BD])


@pytest.mark.parametrize(("precision", "difference"), [("fp32", 1e-4), ("int8", 0.2)])
def test_an_export_leads_back_to_the_network(
    model: PhraseModel, tmp_path: Path, precision: Any, difference: float
) -> None:
    export_model(model, tmp_path, (precision,))
    encoder = OnnxEncoder.load(tmp_path, threads=1)
    tower, original = restore_questions(encoder), QuestionTower.from_model(model)
    restored, expected = tower.state_dict(), original.state_dict()
    assert restored.keys() == expected.keys()
    for name, tensor in expected.items():
        assert (restored[name] - tensor).abs().max() <= max(difference * tensor.abs().max() / 10, 1e-6), name
    found, wanted = vectors(AdaptedEncoder(encoder, tower)), vectors(encoder)
    assert np.linalg.norm(found - wanted) < difference * np.linalg.norm(wanted)


def test_equal_encoders_stand_once_in_a_graph_and_come_back_twice(tiny_model: PhraseModel, tmp_path: Path) -> None:
    export_model(tiny_model, tmp_path, ("fp32",))
    tower = restore_questions(OnnxEncoder.load(tmp_path, threads=1))
    for name, tensor in tower.question_start.state_dict().items():
        assert torch.equal(tower.question_end.state_dict()[name], tensor)


def damaged(change: Callable[[Any], None], folder: Path) -> None:
    path = folder / "question.fp32.onnx"
    proto = onnx.load(path, load_external_data=False)
    change(proto.graph)
    path.write_bytes(proto.SerializeToString())
    remove_checksums(folder)


def test_a_graph_of_another_exporter_is_refused(tiny_base: Path, tmp_path: Path) -> None:
    export_model(model_of(tiny_base), tmp_path, ("fp32",))

    def rename_nodes(graph: Any) -> None:
        for number, node in enumerate(graph.node):
            node.name = f"node_{number}"

    damaged(rename_nodes, tmp_path)
    with pytest.raises(ModelError, match=r"does not name the weights of .* use the checkpoint"):
        restore_questions(OnnxEncoder.load(tmp_path, threads=1))


def test_a_graph_that_computes_otherwise_is_refused(tiny_base: Path, tmp_path: Path) -> None:
    export_model(model_of(tiny_base), tmp_path, ("fp32",))

    def swap_names(graph: Any) -> None:
        layer = "/question_start/encoder/encoder/layer.0/attention/self"
        query, key = (next(n for n in graph.node if n.name == f"{layer}/{part}/MatMul") for part in ("query", "key"))
        query.name, key.name = key.name, query.name

    damaged(swap_names, tmp_path)
    with pytest.raises(ModelError, match="does not compute what the graph does"):
        restore_questions(OnnxEncoder.load(tmp_path, threads=1))


def test_the_bundled_model_can_be_adapted() -> None:
    """Its weights have names, and what they compute is what its graph does; checked when they are restored."""
    encoder = load("small")
    tower = restore_questions(encoder)
    assert not tower.config.share
    assert tower.config.vector_size == encoder.config.vector_size


def test_the_whole_model_comes_back(model: PhraseModel, tmp_path: Path) -> None:
    export_model(model, tmp_path, ("fp32",))
    restored = restore_model(OnnxEncoder.load(tmp_path, threads=1))
    assert restored.state_dict().keys() == model.state_dict().keys()
    assert restored.passage_digest() == model.passage_digest()
    np.testing.assert_allclose(vectors(restored.encoder()), vectors(model.encoder()), atol=1e-5)


def test_rounded_weights_keep_the_fingerprint(model: PhraseModel, tmp_path: Path) -> None:
    """What is restored and exported again searches the indexes of the first."""
    export_model(model, tmp_path / "first", ("int8",))
    restored = restore_model(OnnxEncoder.load(tmp_path / "first", threads=1))
    assert restored.passage_digest() != model.passage_digest()
    export_model(restored, tmp_path / "second", ("int8",))
    first, second = (OnnxEncoder.load(tmp_path / name, threads=1) for name in ("first", "second"))
    assert first.fingerprint == second.fingerprint == model.passage_fingerprint() == restored.passage_fingerprint()
    assert np.linalg.norm(vectors(first) - vectors(second)) < 0.1 * np.linalg.norm(vectors(first))


def test_a_reading_head_comes_back_from_int8_graphs_as_it_was(tiny_base: Path, tmp_path: Path) -> None:
    model = model_of(tiny_base, reads=True)
    export_model(model, tmp_path, ("int8",))
    restored = restore_model(OnnxEncoder.load(tmp_path, threads=1))
    assert restored.config.reads
    assert torch.equal(restored.reading.weight, model.reading.weight)
    assert torch.equal(restored.reading.bias, model.reading.bias)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_low_rank_matrices_come_back(tiny_base: Path, tmp_path: Path, precision: Precision) -> None:
    model = model_of(tiny_base, share=True)
    export_model(model, tmp_path / "before", (precision,))
    model.learn_to_read(rank=16)
    for weight in model.reading_matrices.up.parameters():
        torch.nn.init.normal_(weight, std=0.1, generator=torch.Generator().manual_seed(0))
    export_model(model, tmp_path / "after", (precision,))
    restored = restore_model(OnnxEncoder.load(tmp_path / "after", threads=1))
    found = restored.reading_matrices.state_dict()
    for name, matrix in model.reading_matrices.state_dict().items():
        torch.testing.assert_close(found[name], matrix, atol=0.01, rtol=0.01)
    before, after = ((tmp_path / name / f"weights.{precision}.bin").read_bytes() for name in ("before", "after"))
    assert after.startswith(before), "the other graphs have the weights they had"


def test_a_reading_graph_of_another_exporter_is_refused(tiny_base: Path, tmp_path: Path) -> None:
    export_model(model_of(tiny_base, reads=True), tmp_path, ("fp32",))
    path = tmp_path / "reading.fp32.onnx"
    proto = onnx.load(path, load_external_data=False)
    for number, node in enumerate(proto.graph.node):
        node.name = f"node_{number}"
    path.write_bytes(proto.SerializeToString())
    remove_checksums(tmp_path)
    with pytest.raises(ModelError, match=r"reading.fp32.onnx' does not name the weights of its reading head"):
        restore_model(OnnxEncoder.load(tmp_path, threads=1))


def test_weights_are_those_of_the_checkpoint_else_of_the_finest_graph(
    tiny_model: PhraseModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tiny_model.save_pretrained(tmp_path / "both")
    with caplog.at_level(logging.INFO, "densephrases"):
        export_model(tiny_model, tmp_path / "both", ("int8",))
        assert read_model(tmp_path / "both").passage_digest() == tiny_model.passage_digest()
        assert caplog.messages == []
        export_model(tiny_model, tmp_path / "graphs")
        assert read_model(tmp_path / "graphs").passage_digest() == tiny_model.passage_digest()
    assert [message.partition(": ")[2] for message in caplog.messages] == ["its weights are restored from fp32 graphs."]
