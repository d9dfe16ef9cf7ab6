"""The training loop of all models: readers, phrase models, question generators, query encoders."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from densephrases.errors import ConfigError
from densephrases.nn.mpnet_attention import fuse_attention
from densephrases.train.loop.checkpoint import Position, TrainingState, load_checkpoint, save_checkpoint
from densephrases.train.loop.meter import Meter
from densephrases.train.loop.steps import CapturedStep, EagerStep
from densephrases.train.loop.tensors import Tensors

REPORT_EVERY = 20  # steps; reading losses from the device more often slows training down
PREFETCH = 4

Batch = TypeVar("Batch", bound=Tensors)


@dataclass(frozen=True, kw_only=True)
class LoopConfig:
    """Settings of the training loop.

    Attributes:
        epochs: Passes over the data.
        learning_rate: Peak of the schedule: linear warm-up, then linear decay to zero.
        warmup: Share of all steps before the peak.
        weight_decay: Weight decay of AdamW, for matrices only.
        clip: Maximum norm of the gradient.
        accumulate: Batches per optimiser step.
        precision: Precision of the forward pass on a GPU; a CPU always computes in fp32.
        compile: On a GPU, compile the encoder layers, which takes about a minute.
        fuse: On a GPU, use a fused kernel for MPNet's attention; its position biases are then not trained.
        capture: On a single GPU, replay each step as a CUDA graph.
        seed: Seed of data order, dropout and initial heads.
        checkpoint_every: Steps between checkpoints, from which an interrupted run resumes; None writes none.
        evaluate_every: Epochs between evaluations on dev; None evaluates only at the end.
    """

    epochs: int = 4
    learning_rate: float = 3e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    precision: Literal["bf16", "fp32"] = "bf16"
    compile: bool = True
    fuse: bool = True
    capture: bool = True
    seed: int = 42
    checkpoint_every: int | None = 1000
    evaluate_every: int | None = None

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.accumulate < 1:
            raise ConfigError(f"epochs={self.epochs} and accumulate={self.accumulate} must be at least 1.")
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"warmup={self.warmup} must be a share of all steps: at least 0 and below 1.")


class Task(Protocol[Batch]):
    """What the loop trains. The plan is the same in all processes; `local` gives the part of one process."""

    @property
    def model(self) -> nn.Module: ...

    def plan(self, epoch: int) -> Sequence[Any]: ...

    def size(self, planned: Any) -> int:
        """Number of examples in a whole planned batch."""

    def local(self, planned: Any, rank: int, world: int) -> Batch: ...

    def prepare(self, device: torch.device, world: int, fixed_shapes: bool) -> None:
        """Called once before training; with fixed shapes, batches must have few different shapes."""

    def begin_epoch(self, epoch: int) -> None: ...

    def losses(self, model: nn.Module, batch: Batch) -> dict[str, Tensor]:
        """Sums over the local examples; 'loss' is minimised, the others are reported."""

    def floating_point_operations(self, batch: Batch) -> float: ...

    def evaluate(self) -> dict[str, float]: ...

    def save(self, folder: Path) -> None: ...

    def state(self) -> dict[str, Tensor]:
        """What a checkpoint holds in addition to the model."""

    def load_state(self, state: Mapping[str, Tensor]) -> None: ...


@dataclass(frozen=True, slots=True)
class StepReport:
    step: int
    steps: int
    epoch: int
    values: dict[str, float]  # mean losses since the last report
    learning_rate: float
    examples_per_second: float


class Observer(Protocol):
    def stepped(self, report: StepReport) -> None: ...

    def evaluated(self, step: int, scores: dict[str, float]) -> None: ...

    def finished(self, summary: dict[str, float]) -> None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a training run, apart from its model folder."""

    scores: dict[str, float]
    alignment: object  # describes what became of the questions
    samples: tuple[str, ...] = ()  # samples from a question generator


class Loop(Generic[Batch]):
    """Trains a task. An interrupted and resumed run gives the same result as an uninterrupted one."""

    def __init__(
        self, task: Task[Batch], config: LoopConfig, folder: Path, observers: Sequence[Observer] = (), cpu: bool = False
    ) -> None:
        self.task, self.config, self.folder, self.observers = task, config, folder, observers
        on_gpu = torch.cuda.is_available() and not cpu
        if on_gpu:
            # cuDNN's attention makes a plan per shape, which costs more than it saves with varied lengths
            torch.backends.cuda.enable_cudnn_sdp(False)
            if config.fuse:
                fuse_attention(task.model)
            if config.compile:
                compile_layers(task.model)
        half = config.precision == "bf16" and on_gpu
        self.accelerator = Accelerator(mixed_precision="bf16" if half else "no", cpu=not on_gpu)
        groups = parameter_groups(task.model, config.weight_decay)
        optimizer = torch.optim.AdamW(groups, lr=config.learning_rate, fused=on_gpu)
        self.model, self.optimizer = self.accelerator.prepare(task.model, optimizer)
        self.epoch_begins = self._count_steps()
        self.schedule = LambdaLR(optimizer, linear_schedule(self.steps, config.warmup))
        self.position = Position()
        self.meter = Meter()
        captured = on_gpu and config.capture and self.accelerator.num_processes == 1
        task.prepare(self.accelerator.device, self.accelerator.num_processes, captured)
        self.gradient_step: EagerStep | CapturedStep = (
            CapturedStep(self.model, task.losses, self.accelerator)
            if captured
            else EagerStep(self.model, task.losses, self.accelerator)
        )

    def _count_steps(self) -> list[int]:
        """The number of steps before each epoch and, last, in total; epochs may differ by a batch."""
        counts = [len(grouped(self.task.plan(epoch), self.config.accumulate)) for epoch in range(self.config.epochs)]
        return list(accumulate(counts, initial=0))

    @property
    def steps(self) -> int:
        return self.epoch_begins[-1]

    def run(self, resume: bool = True) -> dict[str, float]:
        """Trains and returns the scores on dev together with time and speed."""
        set_seed(self.config.seed + self.accelerator.process_index)
        if resume:
            self.position = load_checkpoint(self.folder, self._state(), self.accelerator) or self.position
        self.model.train()
        self.meter.start(self.accelerator.device)
        while self.position.epoch < self.config.epochs:
            self._epoch()
            self.position = Position(self.position.epoch + 1, 0)
            if self.config.evaluate_every and self.position.epoch % self.config.evaluate_every == 0:
                self._evaluate()
        self.meter.pause(self.accelerator.device)
        if self.accelerator.is_main_process:
            self.task.save(self.folder)  # before the evaluation, which may fail
        summary = self._evaluate() | self.meter.summary()
        self._tell(lambda observer: observer.finished(summary))
        return summary

    def _state(self) -> TrainingState:
        return TrainingState(self.task.model, self.optimizer, self.schedule, self.task)

    def _epoch(self) -> None:
        epoch, done = self.position.epoch, self.position.step
        self.task.begin_epoch(epoch)
        groups = grouped(self.task.plan(epoch), self.config.accumulate)[done:]
        for number, batches in enumerate(self._prefetched(groups)):
            examples = sum(map(self.task.size, groups[number]))
            self.step(batches, examples)
            self.position = Position(epoch, done + number + 1)
            step = self.epoch_begins[epoch] + self.position.step
            if step % REPORT_EVERY == 0 or step == self.steps:
                self._report(step, epoch)
            if self.config.checkpoint_every and step % self.config.checkpoint_every == 0:
                save_checkpoint(self.folder, self.position, self._state(), self.accelerator)

    def step(self, batches: Sequence[Batch], examples: int) -> None:
        """One optimiser step over the local parts of batches that have `examples` examples in total."""
        scale = self.accelerator.num_processes / examples  # gradients are averaged over processes
        for number, batch in enumerate(batches, start=1):
            self.meter.add(self.gradient_step(batch, scale, last=number == len(batches)))
        self.accelerator.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=False)  # a captured step accumulates into these tensors
        self.meter.count(examples)

    def _prefetched(self, groups: Sequence[Sequence[Any]]) -> Iterator[list[Batch]]:
        """The local parts of each group, prepared by a thread while the device computes."""
        rank, world = self.accelerator.process_index, self.accelerator.num_processes

        def prepare(group: Sequence[Any]) -> list[Batch]:
            batches = [self.task.local(planned, rank, world) for planned in group]
            self.meter.operations += sum(map(self.task.floating_point_operations, batches))
            return batches

        with ThreadPoolExecutor(max_workers=1) as thread:
            waiting = deque(thread.submit(prepare, group) for group in groups[:PREFETCH])
            for following in [*groups[PREFETCH:], *[None] * PREFETCH]:
                if not waiting:
                    return
                ready = waiting.popleft()
                if following is not None:
                    waiting.append(thread.submit(prepare, following))
                yield ready.result()

    def _report(self, step: int, epoch: int) -> None:
        values = self.meter.flush(self.accelerator)
        report = StepReport(step, self.steps, epoch, values, float(self.schedule.get_last_lr()[0]), self.meter.speed())
        self._tell(lambda observer: observer.stepped(report))

    def _evaluate(self) -> dict[str, float]:
        """Scores on dev, computed by the main process only and not counted as training time."""
        self.meter.pause(self.accelerator.device)
        scores: dict[str, float] = {}
        if self.accelerator.is_main_process:
            scores = self.task.evaluate()
            step = self.epoch_begins[self.position.epoch]
            self._tell(lambda observer: observer.evaluated(step, scores))
        self.accelerator.wait_for_everyone()
        self.model.train()
        self.meter.start(self.accelerator.device)
        return scores

    def _tell(self, message: Callable[[Observer], None]) -> None:
        if self.accelerator.is_main_process:
            for observer in self.observers:
                message(observer)


def grouped(plan: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [plan[at : at + size] for at in range(0, len(plan), size)]


def linear_schedule(steps: int, warmup: float) -> Callable[[int], float]:
    """Factor of the learning rate at each step: rises to 1 during the warm-up, then falls to 0."""
    rising = max(round(steps * warmup), 1)

    def factor(step: int) -> float:
        if step < rising:
            return (step + 1) / rising
        return max(steps - step, 0) / max(steps - rising, 1)

    return factor


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Weight decay for matrices, none for biases and norms; frozen parameters are left out."""
    trained = [p for p in model.parameters() if p.requires_grad]
    return [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]


def compile_layers(model: nn.Module) -> None:
    """Compiles the encoder layers: with small batches, most of the time goes into launching kernels."""
    for module in model.modules():
        if isinstance(module, nn.ModuleList):
            for layer in module:
                layer.compile(dynamic=True)
