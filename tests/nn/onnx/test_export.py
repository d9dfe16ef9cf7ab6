"""Exported graphs compute what the torch model does, at any size, and their weights are stored once."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch

from densephrases.arrays import Floats
from densephrases.checksums import CHECKSUMS_FILE
from densephrases.errors import ConfigError, ModelError
from densephrases.model.onnx import OnnxEncoder
from densephrases.model.padding import TokenBatch, token_batch
from densephrases.model.precision import Precision
from densephrases.nn.onnx import activations, export
from densephrases.nn.onnx.export import export_model
from densephrases.nn.onnx.restore import restore_passages
from densephrases.nn.phrase_model import PhraseModel
from densephrases.text.passages import Passage

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "separate": {},
    "one question backbone": {"question_backbone": "shared"},
    "share": {"share": True},
    "split": {"share": True, "split": True},
    "dim": {"dim": 8},
    "reads": {"reads": True},
    "shares and reads": {"share": True, "reads": True},
    "small windows": {"passage_tokens": 40, "overlap": 12, "title_tokens": 4},
}
TEXT = "The tower was built in Paris by Gustave Eiffel's company, and it is 330 metres tall. " * 4


def trained(base: Path, **settings: Any) -> PhraseModel:
    """A model as after training: backbones that differ in everything but the word embeddings."""
    model = PhraseModel.from_base(base, **settings)
    model.freeze_word_embeddings()
    noise = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05 * torch.randn(parameter.shape, generator=noise))
    return model


@pytest.fixture(scope="module", params=list(CONFIGURATIONS.values()), ids=list(CONFIGURATIONS))
def pair(
    request: pytest.FixtureRequest, tiny_base: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[PhraseModel, OnnxEncoder]:
    model = trained(tiny_base, **request.param)
    folder = tmp_path_factory.mktemp("export")
    export_model(model, folder, ("fp32",))
    return model, OnnxEncoder.load(folder, threads=1)


@pytest.fixture(scope="module")
def both(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[PhraseModel, Path]:
    model = trained(tiny_base)
    folder = tmp_path_factory.mktemp("both")
    export_model(model, folder, card="# A card\n")
    return model, folder


def random_batch(model: PhraseModel, lengths: list[int]) -> TokenBatch:
    random = np.random.default_rng(0)
    rows = [random.integers(5, model.config.backbone["vocab_size"], n) for n in lengths]
    types = [(np.arange(n) > n // 3).astype(np.int64) for n in lengths]
    return token_batch(rows, types, model.tokens.pad_id)


def cosines(a: Floats, b: Floats) -> Floats:
    return np.asarray((a * b).sum(-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1))


@pytest.mark.parametrize("lengths", [[1], [9], [384], [3, 17], [384, 200, 5], [2, 2, 2, 2, 2]], ids=str)
def test_any_batch_and_length_equals_torch(pair: tuple[PhraseModel, OnnxEncoder], lengths: list[int]) -> None:
    model, encoder = pair
    batch = random_batch(model, lengths)
    seen = batch.mask.astype(bool)
    for expected, found in zip(model.encoder().forward_passages(batch), encoder.forward_passages(batch), strict=True):
        assert found.shape == expected.shape
        np.testing.assert_allclose(found[seen], expected[seen], atol=1e-4)
    for wanted, got in zip(model.encoder().forward_questions(batch), encoder.forward_questions(batch), strict=True):
        if wanted is None or got is None:
            assert wanted is got
            continue
        np.testing.assert_allclose(got, wanted, atol=1e-4)
    if model.config.reads:
        logits = encoder.forward_reading(batch)
        assert logits.shape == (*batch.ids.shape, 2)
        np.testing.assert_allclose(logits[seen], model.encoder().forward_reading(batch)[seen], atol=1e-4)


def test_windows_give_each_token_once_and_equal_torch(pair: tuple[PhraseModel, OnnxEncoder]) -> None:
    model, encoder = pair
    passages = [Passage(TEXT, "Eiffel Tower"), Passage("By the river."), Passage(""), Passage(TEXT * 2, "Again")]
    expected, found = model.encoder().encode_passages(passages), encoder.encode_passages(passages)
    for passage, wanted, got in zip(passages, expected, found, strict=True):
        assert len(got.vectors_TD) == len(model.tokens.tokenizer.encode(passage.text, add_special_tokens=False).ids)
        assert (np.abs(got.vectors_TD).sum(-1) > 0).all()
        np.testing.assert_array_equal(got.offsets_T2, wanted.offsets_T2)
        np.testing.assert_allclose(got.vectors_TD, wanted.vectors_TD, atol=1e-4)
        np.testing.assert_allclose(got.filter_T2, wanted.filter_T2, atol=1e-4)


def test_questions_equal_torch(pair: tuple[PhraseModel, OnnxEncoder]) -> None:
    model, encoder = pair
    questions = ["Who built the tower?", "when", "where is the city of Paris on the river"]
    expected, found = model.encoder().encode_questions(questions), encoder.encode_questions(questions)
    np.testing.assert_allclose(found.start_BD, expected.start_BD, atol=1e-4)
    np.testing.assert_allclose(found.end_BD, expected.end_BD, atol=1e-4)
    assert (found.coherency_B is not None) == model.config.split


def test_int8_is_close_to_torch(both: tuple[PhraseModel, Path]) -> None:
    model, folder = both
    encoder = OnnxEncoder.load(folder, "int8", threads=1)
    passages, questions = [Passage(TEXT, "Tower"), Passage("The river in London.")], ["who built the tower", "when"]
    expected, found = model.encoder().encode_passages(passages), encoder.encode_passages(passages)
    for wanted, got in zip(expected, found, strict=True):
        assert cosines(wanted.vectors_TD, got.vectors_TD).min() > 0.95
    asked, answered = model.encoder().encode_questions(questions), encoder.encode_questions(questions)
    assert cosines(asked.start_BD, answered.start_BD).min() > 0.95
    assert cosines(asked.end_BD, answered.end_BD).min() > 0.95


@pytest.fixture(scope="module")
def reading(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[PhraseModel, Path]:
    model = trained(tiny_base, reads=True)
    folder = tmp_path_factory.mktemp("reading")
    export_model(model, folder)
    return model, folder


def test_int8_reading_is_close_to_torch(reading: tuple[PhraseModel, Path]) -> None:
    model, folder = reading
    tokens = model.tokens
    questions = tokens.questions(["who built the tower", "when"])
    windows = [passage.windows[0] for passage in tokens.passages([Passage(TEXT, "Tower"), Passage("The river.")])]
    pairs = list(zip(questions, windows, strict=True))
    expected, found = (
        encoder.read(pairs) for encoder in (model.encoder(), OnnxEncoder.load(folder, "int8", threads=1))
    )
    for wanted, got in zip(expected, found, strict=True):
        assert cosines(wanted.tokens_T2.ravel(), got.tokens_T2.ravel()) > 0.95


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_the_reading_graph_shares_all_but_its_head(
    both: tuple[PhraseModel, Path], reading: tuple[PhraseModel, Path], precision: Precision
) -> None:
    def references(kind: str) -> set[tuple[str, str]]:
        graph = onnx.load(reading[1] / f"{kind}.{precision}.onnx", load_external_data=False).graph
        external = [t for t in graph.initializer if t.data_location == onnx.TensorProto.EXTERNAL]
        values = [{entry.key: entry.value for entry in tensor.external_data} for tensor in external]
        return {(each["offset"], each["length"]) for each in values}

    assert references("reading") <= references("passage")
    without, with_head = (folder / f"weights.{precision}.bin" for folder in (both[1], reading[1]))
    assert with_head.stat().st_size == without.stat().st_size


def test_int8_quantises_every_large_weight_and_no_activation_product(both: tuple[PhraseModel, Path]) -> None:
    graph = onnx.load(both[1] / "passage.int8.onnx", load_external_data=False).graph
    large = [t for t in graph.initializer if len(t.dims) == 2 and min(t.dims) > 16]
    assert len(large) == 2 * 6 + 2  # six matrices in each layer; word and position embeddings
    assert {t.data_type for t in large} == {onnx.TensorProto.INT8}
    kinds = [node.op_type for node in graph.node]
    assert kinds.count("MatMulIntegerToFloat") == 2 * 6
    assert kinds.count("MatMul") == 2 * 2 + 1  # queries with keys and weights with values in each layer; the filter


def test_int8_with_a_scale_for_each_token(
    both: tuple[PhraseModel, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where activations have outliers: here in all feed-forward layers, by another measure of what one is."""
    model, unscaled = both
    monkeypatch.setattr(activations, "OUTLYING", 0.0)
    export_model(model, tmp_path, ("int8",))
    for folder, expected in ((unscaled, 0), (tmp_path, 2 * 2)):
        graph = onnx.load(folder / "passage.int8.onnx", load_external_data=False).graph
        assert [node.op_type for node in graph.node].count("ReduceMax") == expected
    encoder, questions = OnnxEncoder.load(tmp_path, threads=1), ["who built the tower", "when"]
    wanted, found = model.encoder().encode_questions(questions), encoder.encode_questions(questions)
    assert cosines(wanted.start_BD, found.start_BD).min() > 0.95
    batch = random_batch(model, [9])
    assert cosines(model.encoder().forward_passages(batch)[0], encoder.forward_passages(batch)[0]).min() > 0.95
    restore_passages(encoder)  # which refuses a network that computes something else


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_equal_weights_are_stored_once(both: tuple[PhraseModel, Path], precision: Precision) -> None:
    model, folder = both
    references = [
        {entry.key: entry.value for entry in tensor.external_data}
        for kind in ("passage", "question")
        for tensor in onnx.load(folder / f"{kind}.{precision}.onnx", load_external_data=False).graph.initializer
        if tensor.data_location == onnx.TensorProto.EXTERNAL
    ]
    words = model.passage.encoder.get_input_embeddings().weight.numel() * (4 if precision == "fp32" else 1)
    tables = [reference for reference in references if int(reference["length"]) == words]
    assert len(tables) == 2  # one in each graph: both question encoders read the same
    assert len({table["offset"] for table in tables}) == 1
    size = (folder / f"weights.{precision}.bin").stat().st_size
    assert size <= sum(int(reference["length"]) + 64 for reference in references) - words
    assert {reference["location"] for reference in references} == {f"weights.{precision}.bin"}


def test_shared_backbone_is_stored_once(tiny_base: Path, tmp_path: Path) -> None:
    sizes = []
    for name, settings in {"one": {"share": True}, "three": {}}.items():
        export_model(trained(tiny_base, **settings), tmp_path / name, ("fp32",))
        sizes.append((tmp_path / name / "weights.fp32.bin").stat().st_size)
    assert sizes[0] < 0.5 * sizes[1]


FILES = ("config.json", "tokenizer.json", "README.md", CHECKSUMS_FILE)


def test_folder_is_complete(both: tuple[PhraseModel, Path]) -> None:
    graphs = {f"{kind}.{precision}.onnx" for kind in ("passage", "question") for precision in ("fp32", "int8")}
    weights = {"weights.fp32.bin", "weights.int8.bin"}
    assert {p.name for p in both[1].iterdir()} == {*FILES, *graphs, *weights}


def test_export_is_reproducible(both: tuple[PhraseModel, Path], tmp_path: Path) -> None:
    model, folder = both
    export_model(model, tmp_path)
    for path in tmp_path.iterdir():
        if path.name != CHECKSUMS_FILE:  # the other folder has a card as well
            assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


@pytest.mark.parametrize("training", [True, False])
def test_model_is_left_as_it_was(tiny_base: Path, tmp_path: Path, training: bool) -> None:
    model = PhraseModel.from_base(tiny_base).train(training)
    before = [backbone.encoder.config._attn_implementation for backbone in model.backbones]
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    export_model(model, tmp_path, ("fp32",))
    assert all(module.training is training for module in model.modules())
    assert [backbone.encoder.config._attn_implementation for backbone in model.backbones] == before
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.state_dict().items())


def test_backbone_without_types(tmp_path: Path, tiny_base: Path) -> None:
    model = PhraseModel.from_base(tiny_base)
    for backbone in model.backbones:
        backbone.uses_types = False
    export_model(model, tmp_path, ("fp32",))
    batch = random_batch(model, [7, 12])
    seen = batch.mask.astype(bool)
    found = OnnxEncoder.load(tmp_path, threads=1).forward_passages(batch)[0]
    np.testing.assert_allclose(found[seen], model.encoder().forward_passages(batch)[0][seen], atol=1e-4)


def test_unknown_precision_is_refused(tiny_model: PhraseModel, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'int4'.*'fp32', 'int8'"):
        export_model(tiny_model, tmp_path / "out", ("fp32", "int4"))
    with pytest.raises(ConfigError, match="nothing to export"):
        export_model(tiny_model, tmp_path / "out", ())
    assert not (tmp_path / "out").exists()


def test_graph_that_computes_something_else_is_refused(
    tiny_model: PhraseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "additive_mask", lambda mask: 0.0 * mask)
    with pytest.raises(ModelError, match="differs from torch"):
        export_model(tiny_model, tmp_path, ("fp32",))
    assert not (tmp_path / "config.json").exists()
