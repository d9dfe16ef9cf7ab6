"""The loop: runs that are killed and resumed, its schedule, its gradients, and that it learns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from densephrases.data.squad import QuestionedPassage
from densephrases.errors import ConfigError, DataError, ModelError
from densephrases.nn.phrase_model import PhraseModel
from densephrases.train.loop import loop as loop_module
from densephrases.train.loop.loop import (
    Loop,
    LoopConfig,
    StepReport,
    grouped,
    linear_schedule,
    parameter_groups,
)
from densephrases.train.loop.tensors import Tensors
from densephrases.train.phrases.examples import AlignmentReport, PassageExample
from densephrases.train.phrases.objective import LossWeights
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.phrases.task import PhraseTask
from densephrases.train.phrases.training_data import TrainingData


class KilledError(Exception):
    """Stands for the end of a process."""


@dataclass
class Watcher:
    """Notes what it is told, and kills the run at a step."""

    kill_at: int | None = None
    reports: list[StepReport] = field(default_factory=list)
    evaluations: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    summaries: list[dict[str, float]] = field(default_factory=list)

    def stepped(self, report: StepReport) -> None:
        self.reports.append(report)
        if report.step == self.kill_at:
            raise KilledError

    def evaluated(self, step: int, scores: dict[str, float]) -> None:
        self.evaluations.append((step, scores))

    def finished(self, summary: dict[str, float]) -> None:
        self.summaries.append(summary)


@pytest.fixture(autouse=True)
def report_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_module, "REPORT_EVERY", 1)


def recipe_of(**loop: Any) -> PhraseRecipe:
    return PhraseRecipe(
        base="tiny",
        train=(),
        dev=Path("dev"),
        batches=BatchPlan(questions=4, questions_per_passage=2),
        prebatches=2,
        prebatch_from=1,
        loop=LoopConfig(**({"epochs": 3, "learning_rate": 1e-3, "checkpoint_every": 2} | loop)),
    )


@dataclass(frozen=True)
class Bench:
    """What phrase tasks are made from; each task has a model of its own."""

    base: Path
    examples: list[PassageExample]
    dev: list[QuestionedPassage]

    def task(self, recipe: PhraseRecipe, **settings: Any) -> PhraseTask:
        torch.manual_seed(1)
        data = TrainingData(self.examples, self.dev, None, AlignmentReport())
        return PhraseTask(recipe, PhraseModel.from_base(self.base, **settings), data)

    def train(
        self, folder: Path, recipe: PhraseRecipe, watcher: Watcher | None = None, **settings: Any
    ) -> tuple[PhraseTask, Loop[Any]]:
        task = self.task(recipe, **settings)
        loop: Loop[Any] = Loop(task, recipe.loop, folder, [watcher or Watcher()], cpu=True)
        loop.run()
        return task, loop


@pytest.fixture
def bench(tiny_base: Path, examples: list[PassageExample], questioned: list[QuestionedPassage]) -> Bench:
    return Bench(tiny_base, examples, questioned)


def same_tensors(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("kill_at", [1, 4, 5, 7], ids=lambda step: f"step {step}")
def test_killed_and_resumed_is_as_uninterrupted(bench: Bench, tmp_path: Path, kill_at: int) -> None:
    """Nine steps, dropout on; a checkpoint after every second one, some of them within an epoch."""
    recipe, whole, second = recipe_of(), Watcher(), Watcher()
    expected, _ = bench.train(tmp_path / "whole", recipe, whole)
    assert [r.step for r in whole.reports] == list(range(1, 10))
    with pytest.raises(KilledError):
        bench.train(tmp_path / "killed", recipe, Watcher(kill_at))
    torch.manual_seed(12345)  # another process has other random numbers
    found, _ = bench.train(tmp_path / "killed", recipe, second)
    done = (kill_at - 1) // 2 * 2  # a run is killed before it writes that step's checkpoint
    assert [r.step for r in second.reports] == list(range(done + 1, 10))
    assert same_tensors(found.model.state_dict(), expected.model.state_dict())
    assert same_tensors(found.state(), expected.state())
    assert found.queue.ring.valid_N.view(2, -1).any(dim=1).all(), "both batches of the queue were restored or refilled"
    assert found.queue.active
    assert [r.values for r in second.reports[1:]] == [r.values for r in whole.reports[done + 1 :]]
    assert [r.learning_rate for r in second.reports] == [r.learning_rate for r in whole.reports[done:]]


def test_dropout_is_on(bench: Bench, tmp_path: Path) -> None:
    """Else the test above would say nothing about random states."""
    one, _ = bench.train(tmp_path / "one", recipe_of(epochs=1))
    other = bench.task(recipe_of(epochs=1))
    loop: Loop[Any] = Loop(other, recipe_of(epochs=1).loop, tmp_path / "other", cpu=True)
    loop.config = replace(loop.config, seed=7)  # the data's order is the recipe's
    loop.run()
    assert not same_tensors(one.model.state_dict(), other.model.state_dict())


def test_a_finished_run_resumes_at_its_end(bench: Bench, tmp_path: Path) -> None:
    recipe = recipe_of(checkpoint_every=3)
    first, _ = bench.train(tmp_path, recipe)
    watcher = Watcher()
    second, _ = bench.train(tmp_path, recipe, watcher)
    assert watcher.reports == []
    assert same_tensors(first.model.state_dict(), second.model.state_dict())


def test_without_resume_a_run_starts_anew(bench: Bench, tmp_path: Path) -> None:
    recipe, watcher = recipe_of(epochs=1), Watcher()
    bench.train(tmp_path, recipe)
    loop: Loop[Any] = Loop(bench.task(recipe), recipe.loop, tmp_path, [watcher], cpu=True)
    loop.run(resume=False)
    assert [r.step for r in watcher.reports] == [1, 2, 3]


def test_a_half_written_checkpoint_is_ignored(bench: Bench, tmp_path: Path) -> None:
    partial = tmp_path / "checkpoint.partial"
    partial.mkdir()
    (partial / "model.safetensors").write_bytes(b"half")
    watcher = Watcher()
    bench.train(tmp_path, recipe_of(epochs=1), watcher)
    assert [r.step for r in watcher.reports] == [1, 2, 3]
    assert not partial.exists()
    assert (tmp_path / "checkpoint" / "position.json").is_file()


def test_killed_between_two_renames_the_old_checkpoint_counts(bench: Bench, tmp_path: Path) -> None:
    recipe = recipe_of(epochs=1)
    with pytest.raises(KilledError):
        bench.train(tmp_path, recipe, Watcher(kill_at=3))
    (tmp_path / "checkpoint").rename(tmp_path / "checkpoint.old")
    watcher = Watcher()
    bench.train(tmp_path, recipe, watcher)
    assert [r.step for r in watcher.reports] == [3]


def test_no_checkpoints_unless_asked_for(bench: Bench, tmp_path: Path) -> None:
    bench.train(tmp_path, recipe_of(epochs=1, checkpoint_every=None))
    assert not list(tmp_path.glob("checkpoint*"))


def test_the_model_is_saved_before_the_final_evaluation(bench: Bench, tmp_path: Path) -> None:
    recipe = recipe_of(epochs=1, checkpoint_every=None)
    task = bench.task(recipe)
    task.data = replace(task.data, dev=[])  # nothing to evaluate: an error after hours of training
    with pytest.raises(DataError):
        Loop(task, recipe.loop, tmp_path, cpu=True).run()
    assert same_tensors(PhraseModel.from_pretrained(tmp_path).state_dict(), task.model.state_dict())


def test_checkpoint_of_another_model(bench: Bench, tmp_path: Path) -> None:
    recipe = recipe_of(epochs=1, checkpoint_every=1)
    bench.train(tmp_path, recipe)
    with pytest.raises(ModelError, match="belongs to another model; choose another output folder"):
        bench.train(tmp_path, recipe, dim=8)


def test_a_dozen_questions_are_learnt_by_heart(bench: Bench, tmp_path: Path) -> None:
    recipe, watcher = recipe_of(epochs=50, learning_rate=3e-3, checkpoint_every=None), Watcher()
    recipe = replace(recipe, batches=BatchPlan(questions=12), prebatches=0, weights=LossWeights(tokens=1))
    task = bench.task(recipe)
    for module in task.model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    loop: Loop[Any] = Loop(task, recipe.loop, tmp_path, [watcher], cpu=True)
    scores = loop.run()
    losses = [r.values["loss"] for r in watcher.reports]
    assert losses[-1] < 0.1 * losses[0]
    assert scores["exact_match"] == scores["all_passages_exact_match"] == 100
    assert watcher.reports[0].values.keys() == {"single", "tokens", "negative", "filter", "loss"}


def test_frozen_embeddings_stay(bench: Bench, tmp_path: Path) -> None:
    recipe = recipe_of(epochs=1, checkpoint_every=1)
    task = bench.task(recipe)
    task.model.freeze_word_embeddings()
    table = task.model.passage.encoder.get_input_embeddings().weight
    before = table.clone()
    loop: Loop[Any] = Loop(task, recipe.loop, tmp_path, cpu=True)
    loop.run()
    assert torch.equal(table, before)


def test_observers_hear_of_evaluations(bench: Bench, tmp_path: Path) -> None:
    watcher = Watcher()
    bench.train(tmp_path, recipe_of(epochs=2, checkpoint_every=None, evaluate_every=1), watcher)
    assert [step for step, _ in watcher.evaluations] == [3, 6, 6]
    assert watcher.evaluations[0][1].keys() == {
        "exact_match",
        "f1",
        "all_passages_exact_match",
        "all_passages_f1",
    }
    (summary,) = watcher.summaries
    assert summary["training_seconds"] > 0
    assert summary["teraflops"] > 0


@dataclass(frozen=True)
class Points(Tensors):
    x: Tensor


class LinearTask:
    """Loss w·x of each point: the gradient is the sum of the points."""

    def __init__(self, batches: Sequence[Tensor]) -> None:
        self.batches = batches
        self.model = nn.Linear(2, 1, bias=False)
        nn.init.zeros_(self.model.weight)
        self.told: list[Any] = []

    def prepare(self, device: torch.device, world: int, fixed_shapes: bool) -> None:
        self.told.append((device.type, world, fixed_shapes))

    def begin_epoch(self, epoch: int) -> None:
        self.told.append(epoch)

    def plan(self, epoch: int) -> Sequence[Tensor]:
        return self.batches

    def size(self, planned: Tensor) -> int:
        return len(planned)

    def local(self, planned: Tensor, rank: int, world: int) -> Points:
        return Points(planned[rank::world])

    def losses(self, model: nn.Module, batch: Points) -> dict[str, Tensor]:
        return {"loss": model(batch.x).sum()}

    def floating_point_operations(self, batch: Points) -> float:
        return float(len(batch.x))

    def evaluate(self) -> dict[str, float]:
        return {}

    def save(self, folder: Path) -> None:
        self.saved = self.model.weight.detach().clone()

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        assert not state


def first_gradients(
    batches: Sequence[Tensor], folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any
) -> list[list[float]]:
    """The gradient at each optimiser step."""
    task, seen = LinearTask(batches), []
    config = LoopConfig(**({"epochs": 1, "clip": 1e9, "checkpoint_every": None} | settings))
    loop: Loop[Any] = Loop(task, config, folder, cpu=True)
    step = loop.optimizer.step

    def noting_step() -> None:
        assert task.model.weight.grad is not None
        seen.append(task.model.weight.grad[0].tolist())
        step()

    monkeypatch.setattr(loop.optimizer, "step", noting_step)
    loop.run()
    return seen


def test_accumulated_batches_have_the_gradient_of_their_union(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, three = torch.tensor([[1.0, 0.0], [3.0, 4.0]]), torch.tensor([[5.0, 2.0]]), torch.tensor([[7.0, 7.0]])
    apart = first_gradients([one, two, three], tmp_path, monkeypatch, accumulate=2)
    union = first_gradients([torch.cat([one, two]), three], tmp_path, monkeypatch)
    assert apart == union == [[pytest.approx(3.0), pytest.approx(2.0)], [7.0, 7.0]]


def test_gradients_are_clipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gradient,) = first_gradients([torch.tensor([[30.0, 40.0]])], tmp_path, monkeypatch, clip=1.0)
    assert gradient == pytest.approx([0.6, 0.8], rel=1e-4)


def test_tasks_are_prepared_once_and_told_of_epochs(tmp_path: Path) -> None:
    task = LinearTask([torch.ones(1, 2)] * 2)
    loop: Loop[Any] = Loop(task, LoopConfig(epochs=3, checkpoint_every=None), tmp_path, cpu=True)
    assert task.told == [("cpu", 1, False)]
    loop.run()
    assert task.told == [("cpu", 1, False), 0, 1, 2]


def test_a_resumed_epoch_begins_again(tmp_path: Path) -> None:
    """Its queue must be as active as it was."""
    config, batches = LoopConfig(epochs=3, checkpoint_every=3), [torch.ones(1, 2)] * 2
    killed: Loop[Any] = Loop(LinearTask(batches), config, tmp_path, [Watcher(kill_at=4)], cpu=True)
    with pytest.raises(KilledError):
        killed.run()
    task = LinearTask(batches)
    resumed: Loop[Any] = Loop(task, config, tmp_path, cpu=True)
    resumed.run()
    assert task.told[1:] == [1, 2]


def test_gradients_are_zeroed_where_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A captured step adds to them at fixed addresses; nothing of a step may remain in the next."""
    task = LinearTask([torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]]), torch.tensor([[5.0, 6.0]])])
    loop: Loop[Any] = Loop(task, LoopConfig(epochs=1, clip=1e9, checkpoint_every=None), tmp_path, cpu=True)
    seen: list[tuple[int, list[float]]] = []

    def noting_step() -> None:
        assert task.model.weight.grad is not None
        seen.append((task.model.weight.grad.data_ptr(), task.model.weight.grad[0].tolist()))
        step()

    step = loop.optimizer.step
    monkeypatch.setattr(loop.optimizer, "step", noting_step)
    loop.run()
    assert [gradient for _, gradient in seen] == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert len({place for place, _ in seen}) == 1


def test_the_queue_counts_from_its_epoch_on(bench: Bench) -> None:
    """Epoch 0 has no pre-batch negatives, epoch 1 has them from its first batch on: the queue was filled before."""
    recipe = recipe_of(epochs=2, checkpoint_every=None)
    task = bench.task(recipe)
    task.model.eval()
    task.prepare(torch.device("cpu"), 1, fixed_shapes=False)
    planned = task.plan(0)[0]
    losses = []
    for epoch in (0, 0, 1):
        task.begin_epoch(epoch)
        assert bool(task.queue.active) == (epoch >= recipe.prebatch_from)
        with torch.no_grad():
            for other in task.plan(0)[1:]:
                task.losses(task.model, task.local(other, 0, 1))
            losses.append(float(task.losses(task.model, task.local(planned, 0, 1))["negative"]))
    assert losses[1] == pytest.approx(losses[0])
    assert losses[2] > losses[0] + 1e-3


def test_linear_schedule() -> None:
    factor = linear_schedule(10, 0.4)
    assert [factor(step) for step in range(11)] == pytest.approx(
        [1 / 4, 2 / 4, 3 / 4, 1, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6, 0]
    )


@pytest.mark.parametrize(("steps", "warmup"), [(1, 0.0), (1, 0.9), (2, 0.5), (7, 0.0), (100, 0.1)])
def test_schedule_stays_between_zero_and_one(steps: int, warmup: float) -> None:
    factors = [linear_schedule(steps, warmup)(step) for step in range(steps)]
    assert all(0 < factor <= 1 for factor in factors)
    assert max(factors) == 1
    assert linear_schedule(steps, warmup)(steps + 5) == 0


def test_learning_rates_of_a_run(bench: Bench, tmp_path: Path) -> None:
    watcher = Watcher()
    bench.train(tmp_path, recipe_of(epochs=1, warmup=0.0, checkpoint_every=None), watcher)
    factor = linear_schedule(3, 0.0)
    assert [r.learning_rate for r in watcher.reports] == pytest.approx([1e-3 * factor(step) for step in (1, 2, 3)])


def test_only_trained_matrices_decay() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Embedding(4, 2))
    model[2].weight.requires_grad_(False)
    decaying, plain = parameter_groups(model, 0.1)
    assert (decaying["weight_decay"], plain["weight_decay"]) == (0.1, 0.0)
    assert [p.shape for p in decaying["params"]] == [(3, 2)]
    assert [p.shape for p in plain["params"]] == [(3,), (3,), (3,)]


def test_grouped() -> None:
    assert grouped([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]


@pytest.mark.parametrize("setting", [{"epochs": 0}, {"accumulate": 0}, {"warmup": 1.0}, {"warmup": -0.1}])
def test_impossible_settings(setting: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=f"{next(iter(setting))}="):
        LoopConfig(**setting)
