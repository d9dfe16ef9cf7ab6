"""`densephrases train`: learn a reader, a phrase model, a question generator, or other questions for an index."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from densephrases.cli.extras import quiet_transformers, require
from densephrases.cli.options import Cpu

if TYPE_CHECKING:
    from densephrases.train.loop import Observer, Outcome

Recipe = TypeVar("Recipe")

app = typer.Typer(help="Train models (needs the extra 'train').", no_args_is_help=True, rich_markup_mode=None)

RecipePath = Annotated[Path, typer.Argument(metavar="RECIPE", help="A Python file such as recipes/squad_small.py.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the model and its logs [default: runs/RECIPE-KIND].")]
Data = Annotated[Path, typer.Option(help="Folder of the data files that the recipe names.")]
Models = Annotated[Path, typer.Option(help="Folder of base models and trained readers that the recipe names.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="Change a setting: --set loop.epochs=2.")]
Resume = Annotated[bool, typer.Option(help="Go on from the checkpoint of a run that was stopped.")]


@app.command()
def reader(
    recipe: RecipePath,
    out: Out = None,
    data: Data = Path("data"),
    models: Models = Path("models"),
    settings: Settings = None,
    resume: Resume = True,
    cpu: Cpu = False,
) -> None:
    """Train the cross-attention reader, the teacher of the phrase model."""
    _require_training()
    from densephrases.train.reader import ReaderRecipe, train_reader

    _train("reader", ReaderRecipe, train_reader, Where(recipe, out, data, models), settings or [], resume, cpu)


@app.command()
def phrases(
    recipe: RecipePath,
    out: Out = None,
    data: Data = Path("data"),
    models: Models = Path("models"),
    settings: Settings = None,
    resume: Resume = True,
    cpu: Cpu = False,
) -> None:
    """Train passage and question encoders with distillation, negatives and filter."""
    _require_training()
    from densephrases.train.phrases import PhraseRecipe, train_phrases

    _train("phrases", PhraseRecipe, train_phrases, Where(recipe, out, data, models), settings or [], resume, cpu)


@app.command()
def questions(
    recipe: RecipePath,
    out: Out = None,
    data: Data = Path("data"),
    models: Models = Path("models"),
    settings: Settings = None,
    resume: Resume = True,
    cpu: Cpu = False,
) -> None:
    """Train a question generator, whose questions are further training data (see: generate)."""
    _require_training()
    from densephrases.train.questions import QuestionRecipe, train_questions

    _train("questions", QuestionRecipe, train_questions, Where(recipe, out, data, models), settings or [], resume, cpu)


class Target(StrEnum):
    phrase = "phrase"
    fact = "fact"
    passage = "passage"
    document = "document"


@app.command()
def queries(
    index: Annotated[Path, typer.Option(help="Folder of the index in which answers are to be found.")],
    data: Annotated[
        list[Path],
        typer.Option(help="Questions with answers, in any format of `eval open`; may be given several times."),
    ],
    out: Annotated[Path, typer.Option(help="Model folder: a new one, or with --task also MODEL itself.")],
    dev: Annotated[Path | None, typer.Option(help="Questions to choose the best epoch by [default: the last].")] = None,
    model: Annotated[str | None, typer.Option(help="Model to begin with [default: the index's].")] = None,
    task: Annotated[str | None, typer.Option(help="Name of this question side, beside the default one.")] = None,
    target: Annotated[Target, typer.Option(help="What must be found for a question.")] = Target.phrase,
    top_k: Annotated[int, typer.Option(help="Results that compete for each question.")] = 100,
    epochs: Annotated[int, typer.Option(help="Passes over the questions.")] = 10,
    learning_rate: Annotated[float, typer.Option(help="Peak of the schedule.")] = 3e-5,
    batch_size: Annotated[int, typer.Option(help="Questions of a step.")] = 12,
    refresh_every: Annotated[int, typer.Option(help="Steps between lookups with the encoders as they are.")] = 50,
    limit: Annotated[int | None, typer.Option(help="Learn from so many questions, drawn at random.")] = None,
    processes: Annotated[
        int | None, typer.Option(help="That look up questions [default: one a core, 1 on a small machine].")
    ] = None,
    settings: Settings = None,
    resume: Resume = True,
    cpu: Cpu = False,
) -> None:
    """Train question encoders further to find answers in an index, which stays as it is."""
    _require_training()
    from densephrases.cli.progress import watch_training
    from densephrases.index.folder import IndexFolder
    from densephrases.model.tasks import task_folder
    from densephrases.train.adapt import QueryRecipe, train_queries
    from densephrases.train.queries import QuerySettings
    from densephrases.train.recipes import override

    recipe = QueryRecipe(
        index=index,
        model=model or IndexFolder.open(index).settings.model,
        train=tuple(data),
        dev=dev,
        task=task,
        target=target.value,
        top_k=top_k,
        batch_size=batch_size,
        refresh_every=refresh_every,
        limit=limit,
        processes=processes,
        loop=replace(QuerySettings().loop, epochs=epochs, learning_rate=learning_rate),
    )
    recipe = override(recipe, settings or [])
    with watch_training("queries", task_folder(out, task), recipe, cpu) as watch:
        watch.outcome = train_queries(recipe, out, watch.folder, watch.observers, resume, cpu)


@dataclass(frozen=True, slots=True)
class Where:
    """The files and folders of a run."""

    recipe: Path
    out: Path | None
    data: Path
    models: Path


def _train(
    kind: str,
    recipe_type: type[Recipe],
    train: "Callable[[Recipe, Path, Sequence[Observer], bool, bool], Outcome]",
    where: Where,
    settings: list[str],
    resume: bool,
    cpu: bool,
) -> None:
    from densephrases.cli.progress import watch_training
    from densephrases.train.recipes import load_recipe, override

    run = override(load_recipe(where.recipe, recipe_type, kind, where.data, where.models), settings)
    with watch_training(kind, where.out or Path("runs") / f"{where.recipe.stem}-{kind}", run, cpu) as watch:
        watch.outcome = train(run, watch.folder, watch.observers, resume, cpu)


def _require_training() -> None:
    require("train", "torch", "transformers", "accelerate", "safetensors")
    quiet_transformers()
