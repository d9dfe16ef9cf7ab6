"""`densephrases train reader|phrases|questions`: train what a recipe describes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from densephrases.cli.options import Cpu
from densephrases.cli.train.options import Resume, Settings, require_training

Recipe = TypeVar("Recipe")

if TYPE_CHECKING:
    from densephrases.train.loop.loop import Observer, Outcome
    from densephrases.train.phrases.recipe import PhraseRecipe
    from densephrases.train.question_generator import QuestionRecipe
    from densephrases.train.reader import ReaderRecipe

    Training = tuple[type[Recipe], Callable[[Recipe, Path, Sequence[Observer], bool, bool], Outcome]]

RecipePath = Annotated[Path, typer.Argument(metavar="RECIPE", help="Python file, e.g. recipes/squad_small.py.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Folder for the model and its logs [default: runs/RECIPE-KIND].")
]
Data = Annotated[Path, typer.Option(help="Folder with the data files that the recipe names.")]
Models = Annotated[Path, typer.Option(help="Folder with the base models and readers that the recipe names.")]


def reader() -> "Training[ReaderRecipe]":
    """Train a cross-attention reader, the teacher of the phrase model."""
    from densephrases.train.reader import ReaderRecipe, train_reader

    return ReaderRecipe, train_reader


def phrases() -> "Training[PhraseRecipe]":
    """Train passage and query encoders with distillation, negatives and the phrase filter."""
    from densephrases.train.phrases.recipe import PhraseRecipe
    from densephrases.train.phrases.task import train_phrases

    return PhraseRecipe, train_phrases


def questions() -> "Training[QuestionRecipe]":
    """Train a question generator, which writes additional training data (see: generate)."""
    from densephrases.train.question_generator import QuestionRecipe, train_questions

    return QuestionRecipe, train_questions


def add_recipe_commands(app: typer.Typer) -> None:
    _add(app, reader)
    _add(app, phrases)
    _add(app, questions)


def _add(app: typer.Typer, training: "Callable[[], Training[Recipe]]") -> None:
    """Adds a command named like `training`, which is also the name of the recipe's function."""
    kind = training.__name__

    @app.command(kind, help=training.__doc__)
    def command(
        recipe: RecipePath,
        out: Out = None,
        data: Data = Path("data"),
        models: Models = Path("models"),
        settings: Settings = None,
        resume: Resume = True,
        cpu: Cpu = False,
    ) -> None:
        require_training()
        from densephrases.cli.show.training import watch_training
        from densephrases.train.loop.recipes import load_recipe, override

        recipe_type, train = training()
        run = override(load_recipe(recipe, recipe_type, kind, data, models), settings or [])
        with watch_training(kind, out or Path("runs") / f"{recipe.stem}-{kind}", run, cpu) as watch:
            watch.outcome = train(run, watch.folder, watch.observers, resume, cpu)
