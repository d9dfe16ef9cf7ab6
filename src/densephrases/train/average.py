"""Averages of model weights: checkpoints of one base model, averaged, often score higher than each of them."""

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

# Settings that change what a weight means.
ARCHITECTURE = (
    "share",
    "split",
    "dim",
    "question_backbone",
    "question_rank",
    "question_layers",
    "reads",
    "reading_rank",
)


def average_models(models: Sequence[str | Path]) -> PhraseModel:
    """The first model with averaged weights, without thresholds and codebooks that were fitted to other vectors."""
    if len(models) < 2:
        raise ConfigError(f"An average needs at least two models, not {len(models)}: name checkpoints of one base.")
    first, *others = (resolve(model) for model in models)
    average = read_model(first)
    total = {name: tensor.double() for name, tensor in average.state_dict().items() if tensor.is_floating_point()}
    for folder in others:
        _add(total, read_model(folder), average, (first, folder))
    weights = {name: (tensor / len(models)).to(average.state_dict()[name].dtype) for name, tensor in total.items()}
    average.load_state_dict(average.state_dict() | weights)
    average.config = average.config.unfitted()
    average.product_quantizer = None
    return average


def save_average(models: Sequence[str | Path], out: Path) -> None:
    if ModelConfig.describes(out):
        raise ConfigError(f"'{out}' already holds a model; name a new folder for the average.")
    average = average_models(models)
    average.save_pretrained(out, averaged_card(average.config, [Path(model).name for model in models]))


@torch.no_grad()
def _add(total: dict[str, Tensor], other: PhraseModel, first: PhraseModel, folders: tuple[Path, Path]) -> None:
    for name in ARCHITECTURE:
        ours, theirs = getattr(first.config, name), getattr(other.config, name)
        _refuse_unlike(ours != theirs, folders, f"{name} is {ours!r} in one and {theirs!r} in the other")
    unlike = other.tokens.tokenizer.to_str() != first.tokens.tokenizer.to_str()
    _refuse_unlike(unlike, folders, "their tokenizers differ")
    weights = other.state_dict()
    shapes = {name: tensor.shape for name, tensor in weights.items() if tensor.is_floating_point()}
    _refuse_unlike(shapes != {n: t.shape for n, t in total.items()}, folders, "the shapes of their weights differ")
    for name, tensor in total.items():
        tensor += weights[name]


def _refuse_unlike(unlike: bool, folders: tuple[Path, Path], reason: str) -> None:
    if unlike:
        raise ModelError(
            f"'{folders[0]}' and '{folders[1]}' cannot be averaged: {reason}. Name checkpoints of one base and recipe."
        )
