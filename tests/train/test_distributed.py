"""Two processes on the CPU together compute what one does alone, on one machine or on two."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from densephrases.data.squad import QuestionedPassage
from densephrases.train.phrases.negatives import GoldPhrases

from . import two_processes
from .conftest import write_squad

WORLD = 2
PATIENCE = 120  # seconds


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def process(rank: int, port: int) -> tuple[list[str], dict[str, str]]:
    """One of two on this machine: the beginning of its command, and what its environment says."""
    places = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": WORLD, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    return [sys.executable], {name: str(value) for name, value in places.items()}


def machine(rank: int, port: int) -> tuple[list[str], dict[str, str]]:
    """One of two that have a process each, as docs/training.md starts them."""
    options = {"nnodes": WORLD, "node_rank": rank, "nproc_per_node": 1, "master_addr": "127.0.0.1", "master_port": port}
    given = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    return [sys.executable, "-m", "torch.distributed.run", *given], {}


def run_both(of: Callable[[int, int], tuple[list[str], dict[str, str]]], base: Path, data: Path, out: Path) -> None:
    port, running = free_port(), []
    for rank in range(WORLD):
        command, settings = of(rank, port)
        environment = os.environ | settings | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
        command += [two_processes.__file__, *map(str, (base, data, out))]
        running.append(subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True))  # noqa: S603
    try:
        for each in running:
            _, errors = each.communicate(timeout=PATIENCE)
            assert each.returncode == 0, errors[-3000:]
    finally:
        for each in running:
            each.kill()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, questioned: list[QuestionedPassage]) -> Path:
    return write_squad(questioned, tmp_path_factory.mktemp("data") / "squad.json")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, tiny_base: Path, data: Path) -> list[dict[str, Tensor]]:
    """What each process wrote."""
    out = tmp_path_factory.mktemp("distributed")
    run_both(process, tiny_base, data, out)
    assert {path.name for path in (out / "run" / "checkpoint").glob("random-*")} == {
        "random-0.safetensors",
        "random-1.safetensors",
    }
    return [load_file(out / f"{rank}.safetensors") for rank in range(WORLD)]


def test_losses_add_up_to_those_of_one_process(results: list[dict[str, Tensor]], tiny_base: Path, data: Path) -> None:
    alone = two_processes.batch_losses(two_processes.make_task(tiny_base, data), 0, 1)
    names = [name for name in alone if not name.endswith("filter")]
    assert {name.split(".")[1] for name in names} == {"single", "negative", "loss"}
    assert {name.split(".")[0] for name in names} == {"0", "1"}, "the second batch has the first among its negatives"
    for name in names:
        assert float(sum(result[name] for result in results)) == pytest.approx(float(alone[name]), rel=1e-4)
        assert all(result[name] > 0 for result in results)


def slots(state: dict[str, Tensor]) -> list[Tensor]:
    """The phrases of each slot as rows of numbers, whatever order the processes had them in."""
    gold = GoldPhrases(**{f.name: state[f"queue.{f.name}"] for f in fields(GoldPhrases)})
    columns = [gold.answer_N, gold.passage_N, gold.start_N, gold.end_N]
    rows = torch.cat([torch.stack(columns, dim=1).float(), gold.start_ND, gold.end_ND], dim=1)
    result = []
    for slot, valid in zip(rows.chunk(2), gold.valid_N.chunk(2), strict=True):
        kept = slot[valid]
        result.append(kept[sorted(range(len(kept)), key=lambda i: kept[i, :4].tolist())])
    return result


def test_both_queues_hold_the_golds_of_both(results: list[dict[str, Tensor]], tiny_base: Path, data: Path) -> None:
    task = two_processes.make_task(tiny_base, data)
    two_processes.batch_losses(task, 0, 1)
    expected = slots(task.state())
    assert sum(map(len, expected)) == sum(map(task.size, task.plan(0))), "both batches are in it"
    for result in results:
        assert all(map(partial(torch.allclose, atol=1e-5), slots(result), expected))
        assert torch.equal(result["queue.slot"], task.queue.slot)


def test_a_passage_for_two_processes(results: list[dict[str, Tensor]], tiny_base: Path, data: Path) -> None:
    """One has nothing of its own to learn from and takes part without counting."""
    task = two_processes.make_task(tiny_base, data)
    two_processes.batch_losses(task, 0, 1)
    alone = two_processes.lone_passage_losses(task, 0, 1)
    assert {name.split(".")[1] for name in alone} == {"single", "negative", "filter", "loss", "gradient"}
    for name, expected in alone.items():
        first, second = (result[name] for result in results)
        assert expected > 0
        assert float(first) == pytest.approx(float(expected), rel=1e-4)
        assert float(second) == 0, "finite, and nothing"
    for result in results:
        assert int(result["lone.valid"]) == task.size(two_processes.lone_passage(task))


def test_gathered_golds_stand_in_the_order_of_ranks(results: list[dict[str, Tensor]]) -> None:
    for result, first in zip(results, (0, 3), strict=True):
        assert result["gathered.numbers"].tolist() == [0, 1, 2, 10, 11]
        assert result["gathered.vectors"][:, 0].tolist() == [0, 1, 2, 10, 11]
        assert result["gathered.valid"].tolist() == [False, True, True, True, True]
        assert int(result["gathered.first"]) == first


def test_gradients_flow_to_the_local_golds_only(results: list[dict[str, Tensor]]) -> None:
    """Each gold is weighted with its place among all: the local ones see their own weights, once."""
    assert results[0]["gathered.gradient"].tolist() == [[w] * 4 for w in (1, 2, 3)]
    assert results[1]["gathered.gradient"].tolist() == [[w] * 4 for w in (4, 5)]


def test_both_end_with_the_same_model(results: list[dict[str, Tensor]], tiny_base: Path, data: Path) -> None:
    before = two_processes.make_task(tiny_base, data).model.state_dict()
    names = [name for name in results[0] if name.startswith("trained.")]
    assert len(names) == len(before)
    assert all(torch.equal(results[0][name], results[1][name]) for name in names)
    assert any(not torch.equal(results[0][f"trained.{name}"], value) for name, value in before.items())


def test_two_machines_train_what_two_processes_do(
    results: list[dict[str, Tensor]], tiny_base: Path, data: Path, tmp_path: Path
) -> None:
    run_both(machine, tiny_base, data, tmp_path)
    for rank, expected in enumerate(results):
        found = load_file(tmp_path / f"{rank}.safetensors")
        assert found.keys() == expected.keys()
        assert all(torch.allclose(found[name], expected[name], atol=1e-5) for name in expected)
