"""Models that come with the package, by name."""

from pathlib import Path

from densephrases.errors import ModelError
from densephrases.model.config import CONFIG_FILE
from densephrases.model.runtime import OnnxEncoder, Precision

BUNDLED_FOLDER = Path(__file__).parent / "weights"


def bundled_names() -> list[str]:
    return sorted(path.parent.name for path in BUNDLED_FOLDER.glob(f"*/{CONFIG_FILE}"))


def load(
    model: str | Path = "small",
    precision: Precision | None = None,
    threads: int | None = None,
    task: str | None = None,
) -> OnnxEncoder:
    """A bundled model by its name, or any exported model by its folder.

    Args:
        model: A name such as 'small', or the folder of an exported model.
        precision: 'int8' or 'fp32'; None takes int8 where the folder has it.
        threads: Threads of one forward pass; None takes one for each core.
        task: Name of a question side that was learned for a task; None takes the default one.
    """
    return OnnxEncoder.load(resolve(model), precision, threads, task)


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
