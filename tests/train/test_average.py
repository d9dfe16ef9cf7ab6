from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from densephrases.checksums import write_checksums
from densephrases.errors import ConfigError, ModelError
from densephrases.nn.phrase_model import PhraseModel
from densephrases.train.average import average_models, save_average

Saved = Callable[..., Path]


@pytest.fixture
def saved(tiny_base: Path, tmp_path: Path) -> Saved:
    """Models of one base, each with weights of its own."""

    def save(name: str, **settings: object) -> Path:
        model = PhraseModel.from_base(tiny_base, **settings)
        generator = torch.Generator().manual_seed(len(name))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
        model.save_pretrained(tmp_path / name)
        return tmp_path / name

    return save


@pytest.mark.parametrize("reads", [False, True])
def test_every_weight_is_the_mean_of_the_parts(saved: Saved, reads: bool) -> None:
    parts = [saved(name, reads=reads) for name in ("a", "bb", "ccc")]
    assert average_models(parts).config.reads is reads
    states = [PhraseModel.from_pretrained(part).state_dict() for part in parts]
    for name, tensor in average_models(parts).state_dict().items():
        expected = np.mean([state[name].double().numpy() for state in states], axis=0)
        np.testing.assert_allclose(tensor.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_the_average_of_a_model_with_itself_is_that_model(saved: Saved) -> None:
    part = saved("a")
    fingerprint = PhraseModel.from_pretrained(part).passage_fingerprint()
    assert average_models([part, part]).passage_fingerprint() == fingerprint


def test_a_saved_average_names_its_parts_and_is_never_overwritten(saved: Saved, tmp_path: Path) -> None:
    parts, out = [saved("a"), saved("bb")], tmp_path / "mean"
    save_average(parts, out)
    assert "the mean of those of a, bb." in (out / "README.md").read_text()
    expected = average_models(parts).passage_fingerprint()
    assert PhraseModel.from_pretrained(out).passage_fingerprint() == expected
    with pytest.raises(ConfigError, match="already holds a model; name a new folder"):
        save_average([parts[1], parts[1]], out)
    assert PhraseModel.from_pretrained(out).passage_fingerprint() == expected


@pytest.mark.parametrize(
    ("settings", "how"),
    [
        ({"dim": 8}, "dim is None in one and 8 in the other"),
        ({"share": True}, "share is False in one and True"),
        ({"reads": True}, "reads is False in one and True"),
    ],
)
def test_models_of_another_make_are_refused(saved: Saved, settings: dict[str, object], how: str) -> None:
    with pytest.raises(ModelError, match=how):
        average_models([saved("a"), saved("other", **settings)])


def test_another_tokenizer_is_refused(saved: Saved) -> None:
    other = saved("bb")
    path = other / "tokenizer.json"
    path.write_text(path.read_text().replace('"[UNK]"', '"[NEW]"'))
    write_checksums(other)
    with pytest.raises(ModelError, match="their tokenizers differ"):
        average_models([saved("a"), other])
