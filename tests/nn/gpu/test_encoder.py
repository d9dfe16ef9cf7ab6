"""Passages encoded packed are what the model itself encodes; a CPU with float32 stands in for the GPU."""

import string
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.errors import ConfigError, ModelError
from densephrases.model.folders import BUNDLED_FOLDER
from densephrases.model.onnx import OnnxEncoder
from densephrases.model.packing import PackedPassages, Packing
from densephrases.model.padding import token_batch
from densephrases.nn.gpu.encoder import GpuEncoder, IndexingModel, load_on_gpu, read_indexing_model
from densephrases.nn.onnx.export import export_model
from densephrases.nn.onnx.restore import restore_passages
from densephrases.nn.passage_tower import PassageTower
from densephrases.nn.phrase_model import PhraseModel
from densephrases.text.passages import Passage

CPU = torch.device("cpu")
PASSAGES = st.lists(
    st.builds(Passage, st.text(string.ascii_lowercase + " .", max_size=150), st.sampled_from(["", "the tower"])),
    max_size=12,
)


def device_encoder(model: PhraseModel, tokens_per_batch: int = 64) -> GpuEncoder:
    encoder = GpuEncoder(IndexingModel(PassageTower.from_model(model), model.encoder()), CPU)
    encoder.tokens_per_batch = tokens_per_batch
    return encoder


@pytest.fixture(scope="module", params=[None, 8])
def model(request: pytest.FixtureRequest, tiny_base: Path) -> PhraseModel:
    limits = {"passage_tokens": 48, "overlap": 8, "title_tokens": 4}
    return PhraseModel.from_base(tiny_base, dim=request.param, **limits)


@settings(max_examples=25)
@given(PASSAGES, st.integers(1, 200), st.sampled_from([None, -0.5, 0.0, 0.5, 100.0]))
def test_started_and_finished_is_encoded_and_filtered(
    model: PhraseModel, passages: list[Passage], tokens_per_batch: int, threshold: float | None
) -> None:
    encoder = device_encoder(model, tokens_per_batch)
    packed = PackedPassages.from_tokenized(encoder.tokens.passages(passages))
    found = encoder.finish(encoder.start(packed, Packing.from_passages(packed, tokens_per_batch), threshold))
    expected = model.encoder().encode_passages(passages)
    kept = [passage.kept(threshold) for passage in expected]
    np.testing.assert_array_equal(found.kept_R, np.flatnonzero(np.concatenate([[], *kept])))
    vectors = [passage.vectors_TD[mask] for passage, mask in zip(expected, kept, strict=True)]
    wanted = np.concatenate([np.zeros((0, model.config.vector_size)), *vectors])
    np.testing.assert_allclose(found.vectors_RD, wanted, atol=1e-4)


def test_padded_batches_and_questions_as_the_model_itself(model: PhraseModel) -> None:
    ours, theirs = device_encoder(model), model.encoder()
    passages = [Passage("the tower was built in 1889 by a man " * n, "paris") for n in (1, 5, 2)]
    for found, expected in zip(ours.encode_passages(passages), theirs.encode_passages(passages), strict=True):
        np.testing.assert_allclose(found.vectors_TD, expected.vectors_TD, atol=1e-4)
        np.testing.assert_allclose(found.filter_T2, expected.filter_T2, atol=1e-4)
    questions = ["who built the tower", "when"]
    np.testing.assert_array_equal(
        ours.encode_questions(questions).start_BD, theirs.encode_questions(questions).start_BD
    )
    assert ours.fingerprint == theirs.fingerprint


# A CPU without instructions for bfloat16 computes products otherwise, as exactly, but not without saying so once.
@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed:UserWarning")
def test_bfloat16_stays_close(model: PhraseModel) -> None:
    encoder = device_encoder(model)
    encoder.dtype = torch.bfloat16
    encoder.passages = type(encoder.passages)(PassageTower.from_model(model), CPU, torch.bfloat16, "auto")
    passages = [Passage("the tower was built in paris", "a river")]
    packed = PackedPassages.from_tokenized(encoder.tokens.passages(passages))
    found = encoder.finish(encoder.start(packed, Packing.from_passages(packed, 64), None)).vectors_RD
    (expected,) = model.encoder().encode_passages(passages)
    assert found.dtype == np.float16
    assert np.abs(found - expected.vectors_TD).max() < 0.05 * np.abs(expected.vectors_TD).max()


@pytest.mark.parametrize(("precision", "difference"), [("fp32", 1e-4), ("int8", 0.2)])
def test_an_export_leads_back_to_the_passage_tower(
    model: PhraseModel, tmp_path: Path, precision: Any, difference: float
) -> None:
    export_model(model, tmp_path, (precision,))
    onnx = OnnxEncoder.load(tmp_path, threads=1)
    tower = restore_passages(onnx)
    assert tower.state_dict().keys() == PassageTower.from_model(model).state_dict().keys()
    passages = [Passage("the tower was built in 1889", "paris"), Passage("where the river is " * 5)]
    encoder = load_on_gpu(tmp_path, "cpu")
    assert encoder.fingerprint == onnx.fingerprint == model.passage_fingerprint()
    for found, expected in zip(encoder.encode_passages(passages), onnx.encode_passages(passages), strict=True):
        gap = np.linalg.norm(found.vectors_TD - expected.vectors_TD)
        assert gap < difference * np.linalg.norm(expected.vectors_TD)


def test_a_checkpoint_comes_before_its_graphs(model: PhraseModel, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    assert read_indexing_model(tmp_path).encoder.fingerprint == model.passage_fingerprint()
    export_model(model, tmp_path, ("int8",))
    both = read_indexing_model(tmp_path)
    assert isinstance(both.encoder, OnnxEncoder)
    assert both.encoder.fingerprint == model.passage_fingerprint()
    assert torch.equal(both.tower.filter.weight, model.filter.weight)


def test_the_bundled_model_can_be_computed_by_torch() -> None:
    """Its weights have names, and what they compute is what its graph does; checked when they are restored."""
    assert load_on_gpu(BUNDLED_FOLDER / "small", "cpu").config.vector_size == 384


def test_without_a_gpu(model: PhraseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match=r"device='cuda' needs a GPU.*sees none; install.*device='cpu'"):
        load_on_gpu(tmp_path)


def test_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        load_on_gpu(tmp_path / "none", "cpu")


def test_padding_is_seen_by_none(model: PhraseModel) -> None:
    encoder = device_encoder(model)
    rows = [np.arange(5, 5 + n) for n in (9, 3)]
    vectors, _ = encoder.forward_passages(token_batch(rows, [np.zeros_like(row) for row in rows], 0))
    alone, _ = encoder.forward_passages(token_batch(rows[1:], [np.zeros_like(rows[1])], 0))
    np.testing.assert_allclose(vectors[1, :3], alone[0], atol=1e-5)
    assert (vectors[1, 3:] == 0).all()
