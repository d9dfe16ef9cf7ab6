"""The encoder that a model is meant by: a name, a folder, and on which device."""

from pathlib import Path

from densephrases.errors import ConfigError, MissingExtraError
from densephrases.index.kinds import DEVICES, Device
from densephrases.model.encoder import Encoder
from densephrases.model.folders import bundled_names, resolve
from densephrases.model.load import load

Model = str | Path | Encoder


def encoder_of(model: Model, device: Device = "cpu") -> Encoder:
    if device not in DEVICES:
        raise ConfigError(f"device={device!r} is unknown; expected one of {list(DEVICES)}.")
    if isinstance(model, Encoder):
        return model
    return load(model) if device == "cpu" else _on_gpu(resolve(model))


def _on_gpu(folder: Path) -> Encoder:
    try:
        from densephrases.nn.gpu.encoder import load_on_device
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"device='cuda' needs the package '{error.name}', which is not installed: "
            "pip install 'densephrases[train]', or use device='cpu'"
        ) from error
    return load_on_device(folder)


def name_of(model: Model, encoder: Encoder) -> str:
    """Where the model is found again: a bundled name, or its folder wherever the index is opened from."""
    if isinstance(model, Encoder):
        return str(getattr(model, "folder", encoder.config.base))
    return model if isinstance(model, str) and model in bundled_names() else str(Path(model).resolve())
