"""Progress and outcome of a training run on the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from accelerate import PartialState
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from densephrases.train.loop.loop import Observer, Outcome, StepReport
from densephrases.train.loop.run_log import RunLog

console = Console(stderr=True)


class TrainingProgress:
    """A progress bar with loss, speed and remaining time; observes the training loop."""

    def __init__(self, name: str) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        times = (TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.fields[state]}"))
        self.bar = Progress(*columns, *times, console=console)
        self.task = self.bar.add_task(name, total=None, state="preparing data")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def stepped(self, report: StepReport) -> None:
        state = f"loss {report.values['loss']:.3f}, {report.examples_per_second:,.0f} questions/s"
        self.bar.update(self.task, completed=report.step, total=report.steps, state=state)

    def evaluated(self, step: int, scores: dict[str, float]) -> None:
        shown = ", ".join(f"{name} {value:.2f}" for name, value in scores.items())
        self.bar.console.print(f"step {step}: {shown}")

    def finished(self, summary: dict[str, float]) -> None:
        self.bar.update(self.task, state="done")


@dataclass
class Watch:
    """A run in progress: its folder, its observers and, in the end, its outcome."""

    folder: Path
    observers: list[Observer]
    outcome: Outcome | None = None


@contextmanager
def watch_training(name: str, folder: Path, recipe: Any, cpu: bool) -> Iterator[Watch]:
    """Shows and logs a run and prints its outcome, in the main process only."""
    if not PartialState(cpu=cpu).is_main_process:
        yield Watch(folder, [])
        return
    with TrainingProgress(name) as progress, RunLog(folder, recipe) as log:
        watch = Watch(folder, [progress, log])
        yield watch
    if watch.outcome is not None:
        print_outcome(watch.outcome, folder)


def print_outcome(outcome: Outcome, folder: Path) -> None:
    console.print(f"Questions: {outcome.alignment}")
    for name, value in outcome.scores.items():
        console.print(f"  {name.replace('_', ' ')}: {value:.2f}")
    for sample in outcome.samples:
        console.print(escape(sample), highlight=False, soft_wrap=True)
    console.print(f"Model saved in {escape(str(folder))}")
