"""Where models are: a bundled model by its name, any other by its folder."""

from pathlib import Path

from densephrases.errors import ModelError
from densephrases.model.config import CONFIG_FILE

BUNDLED_FOLDER = Path(__file__).parent / "weights"


def bundled_names() -> list[str]:
    return sorted(path.parent.name for path in BUNDLED_FOLDER.glob(f"*/{CONFIG_FILE}"))


def resolve(model: str | Path) -> Path:
    """The folder of a bundled model, or the folder that was given."""
    names = bundled_names()
    if isinstance(model, str) and model in names:
        return BUNDLED_FOLDER / model
    folder = Path(model)
    if folder.is_dir() or isinstance(model, Path) or len(folder.parts) > 1:
        return folder
    known = ", ".join(repr(name) for name in names) or "none in this installation"
    raise ModelError(f"{model!r} is neither a bundled model ({known}) nor an existing folder of an exported model.")


def writable_folder(model: str | Path) -> Path:
    """The folder of a model that is about to be changed, or of a new one.

    Raises:
        ModelError: The folder is that of a bundled model, which belongs to the installed package.
    """
    folder = resolve(model)
    place, bundled = folder.resolve(), BUNDLED_FOLDER.resolve()
    for name in bundled_names():
        if place.is_relative_to(bundled / name):
            raise ModelError(
                f"'{model}' is the bundled model {name!r}, which belongs to the installed package and is never "
                f"changed; copy its folder '{BUNDLED_FOLDER / name}' and give the copy."
            )
    return folder
