"""Compares settings of a recipe: one training run per variant, all on the same data, as a table.

python benchmarks/ablation.py recipes/squad_small.py --data DATA --models MODELS --out DIR \
    "paper=" "other KL=divergence=teacher_student" "token negatives=weights.tokens=2 loop.epochs=6"

Each variant is a name, '=', and settings separated by spaces. Variants that have a result in DIR are not repeated.
"""

import gc
import json
import time
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

from densephrases.train.loop.recipes import load_recipe, override
from densephrases.train.loop.run_log import RunLog
from densephrases.train.phrases.recipe import PhraseRecipe
from densephrases.train.phrases.task import build_model, train_phrases
from densephrases.train.phrases.training_data import TrainingData

COLUMNS = ("exact_match", "f1", "all_passages_exact_match", "training_seconds", "share_of_peak")


def main(
    recipe: Path,
    runs: list[str],
    data: Path = Path("data"),
    models: Path = Path("models"),
    out: Path = Path("runs/ablation"),
    minutes: Annotated[float, typer.Option(help="Start no run after this many minutes.")] = 1e9,
) -> None:
    """Train every variant and print its dev scores; results are written to OUT/NAME/result.json."""
    base = load_recipe(recipe, PhraseRecipe, "phrases", data, models)
    prepared: dict[Any, TrainingData] = {}
    began = time.monotonic()
    for name, settings in (run.split("=", 1) for run in runs):
        folder = out / name.replace(" ", "-")
        if (folder / "result.json").is_file() or time.monotonic() - began > 60 * minutes:
            continue
        variant = override(base, settings.split())
        result = train(variant, folder, prepared) | {"settings": settings}
        (folder / "result.json").write_text(json.dumps(result))
        print(name, {column: round(result[column], 3) for column in COLUMNS if column in result}, flush=True)
    print_table(out)


def train(variant: PhraseRecipe, folder: Path, prepared: dict[Any, TrainingData]) -> dict[str, Any]:
    windows = (variant.architecture.passage_tokens, variant.architecture.overlap)
    key = (variant.base, variant.train, variant.teacher, variant.ambiguous, variant.temperature, windows)
    if key not in prepared:
        prepared[key] = TrainingData.prepare(variant, build_model(variant).tokens)
    with RunLog(folder, variant) as log:
        outcome = train_phrases(variant, folder, [log], data=prepared[key])
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return dict(outcome.scores)


def print_table(out: Path) -> None:
    table = Table("run", "settings", *(column.replace("_", " ") for column in COLUMNS))
    for path in sorted(out.glob("*/result.json"), key=lambda p: p.stat().st_mtime):
        result = json.loads(path.read_text())
        values = (f"{result[column]:.2f}" if column in result else "" for column in COLUMNS)
        table.add_row(path.parent.name, result["settings"], *values)
    Console(width=200).print(table)


if __name__ == "__main__":
    typer.run(main)
