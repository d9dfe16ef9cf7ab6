"""Each graph is measured on its own kind of input: outliers that only passages have are found in the passage graph."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from densephrases.model.encoder import Encoder
from densephrases.model.onnx import OnnxEncoder
from densephrases.nn.onnx.calibration import PASSAGES, calibration_batches
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.sample import SAMPLE_QUESTIONS, articles_path
from densephrases.text.passages import Passage
from densephrases.text.readers.read import read_documents


def test_each_graph_gets_its_own_kind_of_input(tiny_model: PhraseModel) -> None:
    batches = calibration_batches(tiny_model.tokens)
    assert sum(len(batch.ids) for batch in batches["passage"]) == PASSAGES
    assert sum(len(batch.ids) for batch in batches["question"]) == len(SAMPLE_QUESTIONS) + PASSAGES
    assert all(batch.types.max() == 1 for batch in batches["passage"])  # title and passage
    assert all(batch.types.max() == 0 for batch in batches["question"])
    assert sum(len(batch.ids) for batch in batches["reading"]) == PASSAGES
    assert sum(batch.mask.sum() for batch in batches["reading"]) > sum(b.mask.sum() for b in batches["passage"])
    for batch in (batch for kind in batches.values() for batch in kind):
        assert batch.ids.size <= max(Encoder.tokens_per_batch, batch.ids.shape[1])


@pytest.fixture
def outlying_model(tiny_base: Path) -> PhraseModel:
    """One backbone for both; a hidden unit answers strongly to a position that no question reaches."""
    model = PhraseModel.from_base(tiny_base, share=True)
    encoder = model.passage.encoder
    unit = encoder.encoder.layer[0].intermediate.dense
    with torch.no_grad():
        encoder.embeddings.position_embeddings.weight[100, 5] = 1000.0
        unit.weight[0] = 0.0
        unit.weight[0, 5], unit.bias[0] = 100.0, -350.0
    return model


def scaled_layers(folder: Path, kind: str) -> int:
    graph = onnx.load(folder / f"{kind}.int8.onnx", load_external_data=False).graph
    return [node.op_type for node in graph.node].count("ReduceMax")


def test_outliers_that_only_passages_have(outlying_model: PhraseModel, tmp_path: Path) -> None:
    export_model(outlying_model, tmp_path, ("int8",))
    assert scaled_layers(tmp_path, "passage") == 2 * 2
    assert scaled_layers(tmp_path, "question") == 0
    article = next(iter(read_documents([articles_path()])))
    expected, found = (
        encoder.encode_passages([Passage(article.text[:1500], article.title)])[0].vectors_TD
        for encoder in (outlying_model.encoder(), OnnxEncoder.load(tmp_path, threads=1))
    )
    lengths = np.linalg.norm(expected, axis=1) * np.linalg.norm(found, axis=1)
    assert ((expected * found).sum(axis=1) / lengths).min() > 0.95
