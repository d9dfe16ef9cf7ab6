"""Checkpoints: what is saved comes back, whenever the process was killed. Whole runs: test_loop.py."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from densephrases.errors import ModelError
from densephrases.train.loop.checkpoint import (
    CHECKPOINT_FOLDER,
    Position,
    TrainingState,
    load_checkpoint,
    save_checkpoint,
    swap_folder,
)


class Counter:
    def __init__(self, value: int = 0) -> None:
        self.value = value

    def state(self) -> dict[str, Tensor]:
        return {"value": torch.tensor([self.value])}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        self.value = int(state["value"])


def training(size: int = 3, steps: int = 0) -> TrainingState:
    torch.manual_seed(steps)
    model = nn.Linear(size, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    schedule = LambdaLR(optimizer, lambda step: 1 / (1 + step))
    for _ in range(steps):
        model(torch.ones(size)).sum().backward()
        optimizer.step()
        schedule.step()
    return TrainingState(model, optimizer, schedule, Counter(steps))


def saved(folder: Path, steps: int = 2) -> TrainingState:
    state = training(steps=steps)
    save_checkpoint(folder, Position(1, steps), state, Accelerator(cpu=True))
    return state


def test_everything_comes_back(tmp_path: Path) -> None:
    before = saved(tmp_path)
    drawn = torch.rand(3)
    after = training()
    assert load_checkpoint(tmp_path, after, Accelerator(cpu=True)) == Position(1, 2)
    assert torch.equal(torch.rand(3), drawn)
    assert torch.equal(after.model.weight, before.model.weight)  # type: ignore[arg-type]
    assert after.schedule.get_last_lr() == before.schedule.get_last_lr() == [after.optimizer.param_groups[0]["lr"]]
    assert isinstance(after.task, Counter)
    assert after.task.value == 2
    ours, theirs = (state.optimizer.state_dict()["state"] for state in (after, before))
    assert all(torch.equal(ours[n][name], theirs[n][name]) for n in theirs for name in theirs[n])


def test_without_a_checkpoint_nothing_is_loaded(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path, training(), Accelerator(cpu=True)) is None


def test_killed_while_folders_are_swapped(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / CHECKPOINT_FOLDER).rename(tmp_path / f"{CHECKPOINT_FOLDER}.old")
    assert load_checkpoint(tmp_path, training(), Accelerator(cpu=True)) == Position(1, 2)
    saved(tmp_path, steps=3)
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT_FOLDER]
    assert load_checkpoint(tmp_path, training(), Accelerator(cpu=True)) == Position(1, 3)


def test_a_swapped_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    for name, file in (("new", "a"), ("current", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    swap_folder(tmp_path / "new", tmp_path / "current")
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["current", "current/a"]


def test_another_model_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    with pytest.raises(ModelError, match="belongs to another model; choose another output folder, or remove"):
        load_checkpoint(tmp_path, training(size=4), Accelerator(cpu=True))


def test_another_number_of_processes_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / CHECKPOINT_FOLDER / "random-0.safetensors").unlink()
    with pytest.raises(ModelError, match="fewer processes; resume with the same number"):
        load_checkpoint(tmp_path, training(), Accelerator(cpu=True))
