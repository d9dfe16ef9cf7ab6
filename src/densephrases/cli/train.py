"""`densephrases train`: learn a reader, a phrase model or a question generator from a recipe."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from densephrases.cli.extras import quiet_transformers, require

if TYPE_CHECKING:
    from densephrases.train.loop import Observer, Outcome

Recipe = TypeVar("Recipe")

app = typer.Typer(
    help="Train models from recipes (needs the extra 'train').", no_args_is_help=True, rich_markup_mode=None
)

RecipePath = Annotated[Path, typer.Argument(metavar="RECIPE", help="A Python file such as recipes/squad_small.py.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the model and its logs [default: runs/RECIPE-KIND].")]
Data = Annotated[Path, typer.Option(help="Folder of the data files that the recipe names.")]
Models = Annotated[Path, typer.Option(help="Folder of base models and trained readers that the recipe names.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="Change a setting: --set loop.epochs=2.")]
Resume = Annotated[bool, typer.Option(help="Go on from the checkpoint of a run that was stopped.")]
Cpu = Annotated[bool, typer.Option("--cpu", help="Use the CPU even where there is a GPU.")]


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
