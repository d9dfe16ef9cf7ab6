"""Query encoders of tasks: a model folder has a default one, and others by the name of a task.

`tasks/NAME/` holds only a query encoder, with a `config.json` of its own. It searches every index of the model, since
the folder has one passage encoder, and so one fingerprint, for all tasks.
"""

import re
from dataclasses import replace
from pathlib import Path

from densephrases.errors import ConfigError, ModelError
from densephrases.model.config import CONFIG_FILE, ModelConfig

TASKS_FOLDER = "tasks"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def task_names(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in (folder / TASKS_FOLDER).glob(f"*/{CONFIG_FILE}"))


def task_folder(folder: Path, task: str | None) -> Path:
    """The folder of a task's query encoder, existing or not; without a task, the model folder itself."""
    if task is None:
        return folder
    if not _NAME.fullmatch(task):
        raise ConfigError(f"task={task!r} is no name of a task; expected at most 64 letters, digits, '-' and '_'.")
    return folder / TASKS_FOLDER / task


def known_task_folder(folder: Path, task: str | None) -> Path:
    """The folder of a task's query encoder; a task that the model does not have is refused."""
    place = task_folder(folder, task)
    if task is not None and task not in (names := task_names(folder)):
        known = f"it has {', '.join(map(repr, names))}" if names else "it has only its default query encoder"
        raise ModelError(
            f"Model folder '{folder}' has no task {task!r}: {known}. "
            "Name one of those, or learn it with `densephrases train queries --task`."
        )
    return place


def task_config(folder: Path, task: str | None, model: ModelConfig) -> ModelConfig:
    """The configuration of a task; it must have the fingerprint of the model's passage encoder, which reads or not."""
    if task is None:
        return model
    config = ModelConfig.load(known_task_folder(folder, task))
    if config.fingerprint != model.fingerprint:
        raise ModelError(
            f"Task {task!r} of model folder '{folder}' was learned for a passage encoder with fingerprint "
            f"{config.fingerprint or 'unknown'}, the folder's has {model.fingerprint or 'none'}; learn the task anew."
        )
    return replace(config, reads=model.reads)
