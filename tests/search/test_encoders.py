"""An index whose passages torch encoded answers as one that ONNX encoded; both are of the same model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from densephrases.errors import ConfigError
from densephrases.index.segment.token_offsets import TOKEN_OFFSET_ARRAYS
from densephrases.model.load import load
from densephrases.nn.gpu.encoder import GpuEncoder, read_indexing_model
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.search.encoders import encoder_of
from densephrases.search.phrase_index import PhraseIndex
from tests.index.made_up import documents, long_text

QUESTIONS = ["who built the tower", "when was the city born", "where is it"]
DOCUMENTS = documents([f"d{n}" for n in range(12)], [long_text(n, 60 * n) for n in range(12)])


@pytest.fixture(scope="module")
def folders(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A checkpoint, and what was exported from it."""
    place = tmp_path_factory.mktemp("models")
    limits: dict[str, Any] = {"passage_tokens": 48, "overlap": 8, "title_tokens": 4, "filter_threshold": 0.0}
    with torch.random.fork_rng():
        torch.manual_seed(0)  # the filter is random
        model = PhraseModel.from_base(tiny_base, share=True, **limits)
    model.save_pretrained(place / "checkpoint")
    export_model(model, place / "exported", ("fp32", "int8"))
    return place / "checkpoint", place / "exported"


def on_device(folder: Path) -> GpuEncoder:
    encoder = GpuEncoder(read_indexing_model(folder), torch.device("cpu"))
    encoder.tokens_per_batch, encoder.tokens_per_chunk = 256, 1024
    return encoder


@pytest.mark.parametrize("made_by", [0, 1])
def test_row_for_row_as_encoded_by_onnx(folders: tuple[Path, Path], made_by: int, tmp_path: Path) -> None:
    exported = load(folders[1], "fp32")
    index = PhraseIndex.create(tmp_path / "onnx", DOCUMENTS, model=exported, quantizer="fp16")
    PhraseIndex.create(tmp_path / "torch", DOCUMENTS, model=on_device(folders[made_by]), quantizer="fp16")
    asked = PhraseIndex.open(tmp_path / "torch", folders[1])  # the int8 export, on a CPU
    ours, theirs = asked.folder.segments[0], index.folder.segments[0]
    assert ours.vectors == theirs.vectors > 500
    for name in ("vector_edges", *TOKEN_OFFSET_ARRAYS):
        np.testing.assert_array_equal(ours.array(name), theirs.array(name))
    rows = np.arange(ours.vectors)
    np.testing.assert_allclose(ours.store.decode(rows), theirs.store.decode(rows), atol=5e-3)
    found = [[answer.text for answer in answers] for answers in asked.search(QUESTIONS, 3)]
    expected = [
        [answer.text for answer in answers] for answers in PhraseIndex.open(tmp_path / "onnx").search(QUESTIONS, 3)
    ]
    assert found == expected


def test_an_unfinished_index_of_a_cpu_goes_on_on_a_device(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """It is the same model in the same folder."""

    def stopping() -> Any:
        yield from DOCUMENTS[:6]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PhraseIndex.create(tmp_path / "index", stopping(), model=folders[1])
    index = PhraseIndex.create(tmp_path / "index", DOCUMENTS, model=on_device(folders[1]))
    assert len(index) == len(DOCUMENTS)


def test_unknown_devices_are_refused(folders: tuple[Path, Path]) -> None:
    device: Any = "gpu"
    with pytest.raises(ConfigError, match=r"device='gpu' is unknown; expected one of \['cpu', 'cuda'\]"):
        encoder_of(folders[1], device)
