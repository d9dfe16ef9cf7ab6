"""How fast a recipe trains: milliseconds a step and share of the device's arithmetic, with and without each remedy.

python benchmarks/training.py recipes/squad_base.py --data DATA --models MODELS [--steps 50]
"""

import time
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table

from densephrases.train.loop.loop import Loop
from densephrases.train.loop.meter import measured_peak
from densephrases.train.loop.recipes import load_recipe, override
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.task import PhraseTask, build_model
from densephrases.train.phrases.training_data import TrainingData

REMEDIES = ("compile", "fuse", "capture")
MODES = (  # attention is fused for MPNet alone
    ("as it comes", ()),
    ("compiled", ("compile",)),
    ("captured", ("capture",)),
    ("compiled, captured", ("compile", "capture")),
    ("fused, captured", ("fuse", "capture")),
    ("fused, compiled, captured", REMEDIES),
)
WARM_UP = 30


def main(
    recipe: Path,
    data: Path = Path("data"),
    models: Path = Path("models"),
    steps: int = 50,
    settings: Annotated[list[str] | None, typer.Option("--set")] = None,
) -> None:
    """Times whole training steps on batches prepared beforehand."""
    run = override(load_recipe(recipe, PhraseRecipe, "phrases", data, models), settings or [])
    if run.teacher is not None and not run.teacher.is_dir():
        run = replace(run, teacher=None)
    prepared = TrainingData.prepare(run, build_model(run).tokens)
    on_gpu = torch.cuda.is_available()
    peak = measured_peak(torch.device("cuda")) if on_gpu else float("nan")
    table = Table("step", "first steps, s", "ms a step", "questions/s", "teraflops", "share of peak %")
    for name, chosen in MODES if on_gpu else MODES[:1]:
        compiled, fused, captured = (remedy in chosen for remedy in REMEDIES)
        loop = replace(run.loop, compile=compiled, fuse=fused, capture=captured)
        first, seconds, questions, operations = measure(replace(run, loop=loop), prepared, steps)
        rate = operations / seconds
        row = (first, 1000 * seconds / steps, questions / seconds, rate / 1e12, 100 * rate / peak)
        table.add_row(name, *(f"{value:,.1f}" for value in row))
    Console(width=120).print(table)


def measure(run: PhraseRecipe, data: TrainingData, steps: int) -> tuple[float, float, int, float]:
    """Seconds of the first steps, then seconds, questions and operations of `steps` steps."""
    task = PhraseTask(run, build_model(run), data)
    with TemporaryDirectory() as folder:
        loop = Loop(task, run.loop, Path(folder))
    loop.model.train()
    task.begin_epoch(run.prebatch_from)
    planned = list(islice(cycle(task.plan(0)), steps))
    batches = [task.local(batch, 0, 1) for batch in planned]
    sizes = [task.size(batch) for batch in planned]

    def go(count: int) -> float:
        began = time.perf_counter()
        for batch, size in islice(zip(batches, sizes, strict=True), count):
            loop.step([batch], size)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter() - began

    first = go(WARM_UP) + go(steps)  # every shape once, so that nothing is compiled or captured later
    return first, go(steps), sum(sizes), sum(map(task.floating_point_operations, batches))


if __name__ == "__main__":
    typer.run(main)
