"""A query encoder on its own: what it computes, what it leaves alone, and how it comes back from an export."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from densephrases.errors import ConfigError, ModelError
from densephrases.model.load import load
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.onnx.export import export_model
from densephrases.nn.onnx.restore import restore_questions
from densephrases.nn.phrase_model import PhraseModel
from densephrases.nn.question_tower import AdaptedEncoder, QuestionTower, with_questions
from densephrases.text.passages import Passage

QUESTIONS = ["who built the tower", "what is it", "where was the city on the river in the year 1750?"]
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "three encoders": {},
    "projected": {"dim": 8},
    "one question backbone": {"question_backbone": "shared"},
    "shared with passages": {"share": True},
    "shared and projected": {"share": True, "dim": 8},
}


def model_of(base: Path, **settings: Any) -> PhraseModel:
    """With weights that differ between its encoders, as after training."""
    model = PhraseModel.from_base(base, **settings)
    random = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.02 * torch.randn(parameter.shape, generator=random))
    return model


@pytest.fixture(params=list(ARCHITECTURES.values()), ids=list(ARCHITECTURES))
def model(request: pytest.FixtureRequest, tiny_base: Path) -> PhraseModel:
    return model_of(tiny_base, **request.param)


def change(tower: QuestionTower) -> None:
    with torch.no_grad():
        for parameter in tower.parameters():
            parameter.add_(0.1)


def vectors(encoder: Any) -> np.ndarray[Any, Any]:
    found = encoder.encode_questions(QUESTIONS)
    return np.stack([found.start_BD, found.end_BD])


def test_a_copy_asks_alike_and_may_change(model: PhraseModel) -> None:
    tower, base = QuestionTower.from_model(model), model.encoder()
    adapted = AdaptedEncoder(base, tower)
    np.testing.assert_allclose(vectors(adapted), vectors(base), atol=1e-6)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    change(tower)
    assert np.abs(vectors(adapted) - vectors(base)).max() > 1e-3
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_passages_and_fingerprint_are_the_base_s(model: PhraseModel) -> None:
    tower, base = QuestionTower.from_model(model), model.encoder()
    change(tower)
    adapted, whole = AdaptedEncoder(base, tower), with_questions(model, tower)
    assert adapted.fingerprint == base.fingerprint == whole.passage_fingerprint()
    (ours,), (theirs,) = (e.encode_passages([Passage("the tower was built in 1889")]) for e in (adapted, base))
    np.testing.assert_array_equal(ours.vectors_TD, theirs.vectors_TD)
    np.testing.assert_allclose(vectors(whole.encoder()), vectors(adapted), atol=1e-6)


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


def test_split_models_have_no_side_of_their_own(tiny_base: Path) -> None:
    with pytest.raises(ConfigError, match="split=True"):
        QuestionTower.from_model(PhraseModel.from_base(tiny_base, share=True, split=True))


def test_word_embeddings_can_be_frozen(tiny_base: Path) -> None:
    tower = QuestionTower.from_model(model_of(tiny_base))
    tower.freeze_word_embeddings()
    frozen = [name for name, parameter in tower.named_parameters() if not parameter.requires_grad]
    assert frozen == [f"question_{end}.encoder.embeddings.word_embeddings.weight" for end in ("start", "end")]


def test_the_bundled_model_can_be_adapted() -> None:
    """Its weights have names, and what they compute is what its graph does; checked when they are restored."""
    encoder = load("small")
    tower = restore_questions(encoder)
    assert not tower.config.share
    assert tower.config.vector_size == encoder.config.vector_size
