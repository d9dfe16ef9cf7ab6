"""A checkpoint folder is complete or has no configuration, and what does not fit is refused with its reason."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from densephrases.errors import ModelError
from densephrases.model.config import CONFIG_FILE
from densephrases.nn import checkpoint
from densephrases.nn.checkpoint import WEIGHTS_FILE, load_weights, save_folder, save_weights, weights_path
from densephrases.nn.phrase_model import PhraseModel


def test_weights_come_back(tmp_path: Path) -> None:
    first, second = nn.Linear(3, 2), nn.Linear(3, 2)
    save_weights(tmp_path / WEIGHTS_FILE, first)
    load_weights(tmp_path, second)
    assert torch.equal(first.weight, second.weight)
    assert [path.name for path in tmp_path.iterdir()] == [WEIGHTS_FILE]


def test_without_weights_the_way_to_the_graphs_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"has no model\.safetensors; for its ONNX files use densephrases\.load"):
        weights_path(tmp_path)


def test_truncated_and_other_weights_are_refused(tmp_path: Path) -> None:
    save_weights(tmp_path / WEIGHTS_FILE, nn.Linear(3, 2))
    with pytest.raises(ModelError, match=r"does not fit its config\.json"):
        load_weights(tmp_path, nn.Linear(3, 5))
    weights = load_file(tmp_path / WEIGHTS_FILE)
    save_file(weights | {"other": torch.zeros(1)}, tmp_path / WEIGHTS_FILE)
    with pytest.raises(ModelError, match="other"):
        load_weights(tmp_path, nn.Linear(3, 2))
    (tmp_path / WEIGHTS_FILE).write_bytes((tmp_path / WEIGHTS_FILE).read_bytes()[:20])
    with pytest.raises(ModelError, match="truncated, copy it again"):
        load_weights(tmp_path, nn.Linear(3, 2))


def test_weights_that_cannot_be_written_leave_the_former_ones(
    tiny_model: PhraseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_model.save_pretrained(tmp_path)
    before = (tmp_path / WEIGHTS_FILE).read_bytes()

    def full_disk(weights: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_folder(tmp_path, tiny_model, tiny_model.config, tiny_model.tokens.tokenizer)
    assert (tmp_path / WEIGHTS_FILE).read_bytes() == before
    with pytest.raises(OSError, match="No space left"):
        save_folder(tmp_path / "new", tiny_model, tiny_model.config, tiny_model.tokens.tokenizer)
    assert not (tmp_path / "new" / CONFIG_FILE).exists()
    assert list((tmp_path / "new").iterdir()) == []
