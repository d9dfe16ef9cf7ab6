"""`densephrases train`: learn a reader, a phrase model, a question generator, or other questions for an index."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from densephrases.cli.extras import quiet_transformers, require
from densephrases.cli.options import Cpu

Recipe = TypeVar("Recipe")

if TYPE_CHECKING:
    from densephrases.train.loop.loop import Observer, Outcome
    from densephrases.train.phrases.task import PhraseRecipe
    from densephrases.train.question_generator import QuestionRecipe
    from densephrases.train.reader import ReaderRecipe

    Training = tuple[type[Recipe], Callable[[Recipe, Path, Sequence[Observer], bool, bool], Outcome]]

app = typer.Typer(
    help="Train models (needs the extra 'train').", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)

RecipePath = Annotated[Path, typer.Argument(metavar="RECIPE", help="A Python file such as recipes/squad_small.py.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the model and its logs [default: runs/RECIPE-KIND].")]
Data = Annotated[Path, typer.Option(help="Folder of the data files that the recipe names.")]
Models = Annotated[Path, typer.Option(help="Folder of base models and trained readers that the recipe names.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="Change a setting: --set loop.epochs=2.")]
Resume = Annotated[bool, typer.Option(help="Go on from the checkpoint of a run that was stopped.")]


def trains_by_recipe(training: "Callable[[], Training[Recipe]]") -> "Callable[[], Training[Recipe]]":
    """Adds the command of this name that trains what a recipe's function of the same name describes."""
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
        _require_training()
        from densephrases.cli.show.training import watch_training
        from densephrases.train.loop.recipes import load_recipe, override

        recipe_type, train = training()
        run = override(load_recipe(recipe, recipe_type, kind, data, models), settings or [])
        with watch_training(kind, out or Path("runs") / f"{recipe.stem}-{kind}", run, cpu) as watch:
            watch.outcome = train(run, watch.folder, watch.observers, resume, cpu)

    return training


@trains_by_recipe
def reader() -> "Training[ReaderRecipe]":
    """Train the cross-attention reader, the teacher of the phrase model."""
    from densephrases.train.reader import ReaderRecipe, train_reader

    return ReaderRecipe, train_reader


@trains_by_recipe
def phrases() -> "Training[PhraseRecipe]":
    """Train passage and question encoders with distillation, negatives and filter."""
    from densephrases.train.phrases.task import PhraseRecipe, train_phrases

    return PhraseRecipe, train_phrases


@trains_by_recipe
def questions() -> "Training[QuestionRecipe]":
    """Train a question generator, whose questions are further training data (see: generate)."""
    from densephrases.train.question_generator import QuestionRecipe, train_questions

    return QuestionRecipe, train_questions


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
    task: Annotated[str | None, typer.Option(help="Name of this query encoder, beside the default one.")] = None,
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
    from densephrases.cli.show.training import watch_training
    from densephrases.index.folder import IndexFolder
    from densephrases.model.tasks import task_folder
    from densephrases.train.fit import QueryRecipe, train_queries
    from densephrases.train.loop.recipes import override
    from densephrases.train.queries.task import QuerySettings

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


@app.command()
def mean(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Folders of models, or bundled names.")],
    out: Annotated[Path, typer.Option(help="A new folder for the model.")],
) -> None:
    """Average the weights of models of one base, such as one and what it went on to be."""
    _require_training()
    from densephrases.train.average import save_mean

    save_mean(models, out)
    typer.echo(f"Mean of {len(models)} models saved in {out}; fit thresholds to it with 'densephrases eval'.")


def _require_training() -> None:
    require("train", "torch", "transformers", "accelerate", "safetensors")
    quiet_transformers()
