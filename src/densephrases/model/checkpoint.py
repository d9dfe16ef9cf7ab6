"""A phrase model as a folder: config.json, tokenizer.json, model.safetensors, README.md. Never pickle."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from densephrases.errors import ModelError
from densephrases.model.config import ModelConfig
from densephrases.model.tokens import TOKENIZER_FILE, load_tokenizer

if TYPE_CHECKING:
    from densephrases.model.network import PhraseModel

WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "README.md"

Model = TypeVar("Model", bound="PhraseModel")


def save_model(model: "PhraseModel", folder: Path, card: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / WEIGHTS_FILE)
    model.tokens.tokenizer.save(str(folder / TOKENIZER_FILE))
    if card:
        (folder / CARD_FILE).write_text(card, encoding="utf-8")
    model.config.save(folder)  # last: its presence means the folder is complete


def load_model(model_class: type[Model], folder: Path) -> Model:
    config = ModelConfig.load(folder)
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise ModelError(f"Model folder '{folder}' has no {WEIGHTS_FILE}; for its ONNX files use densephrases.load.")
    model = model_class(config, load_tokenizer(folder))
    try:
        weights = load_file(path)
    except (SafetensorError, OSError) as error:
        raise ModelError(f"'{path}' cannot be read ({error}); it is truncated, copy it again.") from error
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ModelError(f"'{path}' does not fit its config.json: {str(error).splitlines()[-1].strip()}") from error
    return model
