"""Checkpoints to resume a run exactly: weights, optimiser, schedule, random states, position. Without pickle."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from accelerate import Accelerator
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from densephrases.errors import ModelError

CHECKPOINT_FOLDER = "checkpoint"
POSITION_FILE = "position.json"


class Stateful(Protocol):
    def state(self) -> dict[str, Tensor]: ...

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


@dataclass(frozen=True, slots=True)
class Position:
    """Number of completed epochs, and of steps in the current one."""

    epoch: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True)
class TrainingState:
    """The objects whose state a checkpoint holds."""

    model: nn.Module
    optimizer: Any
    schedule: LambdaLR
    task: Stateful


def save_checkpoint(run: Path, position: Position, state: TrainingState, accelerator: Accelerator) -> None:
    """Writes a new folder and swaps it in: an interruption at any time leaves a complete checkpoint."""
    partial = run / f"{CHECKPOINT_FOLDER}.partial"
    if accelerator.is_main_process:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    accelerator.wait_for_everyone()
    save_file(random_states(), partial / f"random-{accelerator.process_index}.safetensors")
    save_file(_cpu(state.task.state()), partial / f"task-{accelerator.process_index}.safetensors")
    if accelerator.is_main_process:
        save_file(_cpu(state.model.state_dict()), partial / "model.safetensors")
        save_file(_cpu(optimizer_state(state.optimizer)), partial / "optimizer.safetensors")
        schedule = {"last_epoch": state.schedule.last_epoch, "learning_rates": state.schedule.get_last_lr()}
        (partial / POSITION_FILE).write_text(json.dumps(asdict(position) | {"schedule": schedule}))
    accelerator.wait_for_everyone()
    if accelerator.is_main_process:
        swap_folder(partial, run / CHECKPOINT_FOLDER)
    accelerator.wait_for_everyone()


def swap_folder(new: Path, current: Path) -> None:
    """Replaces a folder; until it is in place, the previous one is at `CURRENT.old`."""
    old = current.with_suffix(".old")
    shutil.rmtree(old, ignore_errors=True)
    if current.exists():
        current.rename(old)
    new.rename(current)
    shutil.rmtree(old, ignore_errors=True)


def load_checkpoint(run: Path, state: TrainingState, accelerator: Accelerator) -> Position | None:
    """Restores the state from the checkpoint of a run and returns its position; None if there is none."""
    folder = next(
        (f for f in (run / CHECKPOINT_FOLDER, run / f"{CHECKPOINT_FOLDER}.old") if (f / POSITION_FILE).is_file()), None
    )
    if folder is None:
        return None
    rank = accelerator.process_index
    if not (folder / f"random-{rank}.safetensors").is_file():
        raise ModelError(f"Checkpoint '{folder}' was written by fewer processes; resume with the same number.")
    values = json.loads((folder / POSITION_FILE).read_text())
    try:
        state.model.load_state_dict(load_file(folder / "model.safetensors"))
    except RuntimeError as error:
        raise ModelError(
            f"Checkpoint '{folder}' belongs to another model; choose another output folder, or remove the checkpoint."
        ) from error
    load_optimizer_state(state.optimizer, load_file(folder / "optimizer.safetensors"))
    state.schedule.last_epoch = values["schedule"]["last_epoch"]
    state.schedule._last_lr = values["schedule"]["learning_rates"]
    for group, rate in zip(state.optimizer.param_groups, values["schedule"]["learning_rates"], strict=True):
        group["lr"] = rate
    state.task.load_state(load_file(folder / f"task-{rank}.safetensors"))
    restore_random_states(load_file(folder / f"random-{rank}.safetensors"))
    return Position(values["epoch"], values["step"])


def optimizer_state(optimizer: Any) -> dict[str, Tensor]:
    states = optimizer.state_dict()["state"]
    return {
        f"{number}.{name}": torch.as_tensor(value) for number, state in states.items() for name, value in state.items()
    }


def load_optimizer_state(optimizer: Any, flat: Mapping[str, Tensor]) -> None:
    states: dict[int, dict[str, Tensor]] = {}
    for key, value in flat.items():
        number, name = key.split(".", 1)
        states.setdefault(int(number), {})[name] = value
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})


def random_states() -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def restore_random_states(states: Mapping[str, Tensor]) -> None:
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(states["cuda"])


def _cpu(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies: tensors that share memory, such as tied embeddings, cannot be saved together."""
    return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
