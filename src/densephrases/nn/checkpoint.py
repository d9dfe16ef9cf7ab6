"""A model as a folder: config.json, tokenizer.json, model.safetensors, README.md. Never pickle."""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn

from densephrases.atomic_files import replace_file, replacing
from densephrases.checksums import remove_checksums, verify_file, write_checksums
from densephrases.errors import ModelError, first_line
from densephrases.model.card import CARD_FILE
from densephrases.model.config import ModelConfig
from densephrases.model.folders import writable_folder
from densephrases.model.tokenizer import TOKENIZER_FILE

WEIGHTS_FILE = "model.safetensors"


def save_folder(folder: Path, network: nn.Module, config: ModelConfig, tokenizer: Tokenizer, card: str = "") -> None:
    writable_folder(folder).mkdir(parents=True, exist_ok=True)
    remove_checksums(folder)
    save_weights(folder / WEIGHTS_FILE, network)
    replace_file(folder / TOKENIZER_FILE, tokenizer.to_str(pretty=True))
    if card:
        replace_file(folder / CARD_FILE, card)
    config.save(folder)  # last: its presence means the folder is complete
    write_checksums(folder)


def save_weights(path: Path, network: nn.Module) -> None:
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in network.state_dict().items()}
    with replacing(path) as new:
        save_file(weights, new)


def weights_path(folder: Path, file: str = WEIGHTS_FILE) -> Path:
    path = folder / file
    if not path.is_file():
        raise ModelError(f"Model folder '{folder}' has no {file}; for its ONNX files use densephrases.load.")
    return path


def load_weights(folder: Path, network: nn.Module, file: str = WEIGHTS_FILE) -> None:
    path = weights_path(folder, file)
    verify_file(path)
    try:
        weights: dict[str, Any] = load_file(path)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"'{path}' cannot be read ({first_line(error)}); it is truncated, copy it again.") from error
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise ModelError(f"'{path}' does not fit its config.json: {str(error).splitlines()[-1].strip()}") from error
