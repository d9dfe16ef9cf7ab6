"""The mean of several models' weights: of a model and what it went on to be, it is often better than each."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from densephrases.errors import ConfigError, ModelError
from densephrases.model.card import averaged_card
from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve
from densephrases.nn.onnx.restore import read_model
from densephrases.nn.phrase_model import PhraseModel

ALIKE = ("share", "split", "dim", "question_backbone")  # which give equal weights another meaning


def mean_model(models: Sequence[str | Path]) -> PhraseModel:
    """A model with the first one's configuration; what was fitted to the vectors of the parts is left out."""
    if len(models) < 2:
        raise ConfigError(f"A mean needs two models or more, not {len(models)}: name checkpoints of one base.")
    first, *others = (resolve(model) for model in models)
    mean = read_model(first)
    total = {name: tensor.double() for name, tensor in mean.state_dict().items() if tensor.is_floating_point()}
    for folder in others:
        _add(total, read_model(folder), mean, (first, folder))
    weights = {name: (tensor / len(models)).to(mean.state_dict()[name].dtype) for name, tensor in total.items()}
    mean.load_state_dict(mean.state_dict() | weights)
    mean.config = mean.config.unfitted()
    mean.product_quantizer = None
    return mean


def save_mean(models: Sequence[str | Path], out: Path) -> None:
    if ModelConfig.describes(out):
        raise ConfigError(f"'{out}' already holds a model; name a new folder for the mean.")
    mean = mean_model(models)
    mean.save_pretrained(out, averaged_card(mean.config, [Path(model).name for model in models]))


@torch.no_grad()
def _add(total: dict[str, Tensor], part: PhraseModel, mean: PhraseModel, folders: tuple[Path, Path]) -> None:
    for name in ALIKE:
        ours, theirs = getattr(mean.config, name), getattr(part.config, name)
        _refuse_unlike(ours != theirs, folders, f"{name} is {ours!r} in one and {theirs!r} in the other")
    unlike = part.tokens.tokenizer.to_str() != mean.tokens.tokenizer.to_str()
    _refuse_unlike(unlike, folders, "their tokenizers differ")
    weights = part.state_dict()
    shapes = {name: tensor.shape for name, tensor in weights.items() if tensor.is_floating_point()}
    _refuse_unlike(shapes != {n: t.shape for n, t in total.items()}, folders, "their weights have other shapes")
    for name, tensor in total.items():
        tensor += weights[name]


def _refuse_unlike(unlike: bool, folders: tuple[Path, Path], how: str) -> None:
    if unlike:
        raise ModelError(f"'{folders[0]}' and '{folders[1]}' have no mean: {how}. Name models of one base and recipe.")
