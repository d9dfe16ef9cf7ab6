"""What is trained for a table: the paper's settings, on a base model of the size that the user chose."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from densephrases.reproduce.inputs import Inputs
from densephrases.reproduce.plan import Result

if TYPE_CHECKING:
    from densephrases.train.loop.loop import LoopConfig, Observer
    from densephrases.train.phrases.recipe import PhraseRecipe
    from densephrases.train.reader import ReaderRecipe

Watch = Callable[[str, Path, Any], AbstractContextManager[list["Observer"]]]
"""Yields the observers of a run, given its name, folder and recipe."""

_SMOKE_TOKENS, _SMOKE_OVERLAP = 96, 16


@contextmanager
def unwatched(name: str, folder: Path, recipe: Any) -> Iterator[list["Observer"]]:
    yield []


def phrase_recipe(inputs: Inputs, train: tuple[Path, ...], dev: Path) -> "PhraseRecipe":
    """The paper's settings: four epochs, B=84, C=2 from the third epoch on, weights 1, 2 and 4; without a teacher.

    Small models learn faster than the paper's 3e-5.
    """
    from densephrases.train.phrases.recipe import Architecture, PhraseRecipe

    smoke = inputs.size == "smoke"
    return PhraseRecipe(
        base=_base(inputs, "gte"),
        train=train,
        dev=dev,
        architecture=Architecture(passage_tokens=_SMOKE_TOKENS, overlap=_SMOKE_OVERLAP) if smoke else Architecture(),
        loop=_loop(inputs, {"smoke": 1e-3, "small": 3e-4, "base": 3e-5}[inputs.size], epochs=2 if smoke else 4),
        prebatch_from=1 if smoke else 2,
    )


def reader_recipe(inputs: Inputs, train: tuple[Path, ...], dev: Path) -> "ReaderRecipe":
    """As `recipes/squad_base.py` trains readers."""
    from densephrases.train.reader import ReaderRecipe

    smoke = inputs.size == "smoke"
    recipe = ReaderRecipe(
        base=_base(inputs, "mpnet"),
        train=train,
        dev=dev,
        batch_size=64,
        loop=_loop(inputs, 1e-3 if smoke else 6e-5, epochs=1 if smoke else 3),
    )
    return replace(recipe, passage_tokens=_SMOKE_TOKENS, overlap=_SMOKE_OVERLAP) if smoke else recipe


def _loop(inputs: Inputs, learning_rate: float, epochs: int) -> "LoopConfig":
    from densephrases.train.loop.loop import LoopConfig

    every = None if inputs.size == "smoke" else 1000
    return LoopConfig(epochs=epochs, learning_rate=learning_rate, checkpoint_every=every)


def _base(inputs: Inputs, small: str) -> str | Path:
    """The base model of a size, unless the user names one; `small` is that of the small size."""
    if inputs.base is not None:
        return inputs.base
    if inputs.size == "smoke":
        from densephrases.nn.random_base import random_base

        return random_base(inputs.out / "inputs" / "base", hidden=32)
    return inputs.models / (small if inputs.size == "small" else "mpnet")


def train_phrases(inputs: Inputs, watch: Watch, name: str, recipe: "PhraseRecipe") -> Result:
    """Trains in the folder of that name, with the user's settings on top; the scores are those on the dev file."""
    from densephrases.train.loop.recipes import override
    from densephrases.train.phrases import task

    folder, chosen = model_folder(inputs, name), override(recipe, inputs.settings)
    with watch(name, folder, chosen) as observers:
        return dict(task.train_phrases(chosen, folder, observers, cpu=inputs.cpu).scores)


def train_reader(inputs: Inputs, watch: Watch, name: str, recipe: "ReaderRecipe") -> Result:
    from densephrases.train import reader

    folder = model_folder(inputs, name)
    with watch(name, folder, recipe) as observers:
        return dict(reader.train_reader(recipe, folder, observers, cpu=inputs.cpu).scores)


def teacher(inputs: Inputs) -> Path:
    """The reader that the user names, or the one that a step trains."""
    return inputs.reader or model_folder(inputs, "reader")


def model_folder(inputs: Inputs, name: str) -> Path:
    return inputs.out / "models" / name


def with_negatives(
    recipe: "PhraseRecipe", questions: int, prebatches: int, weight: float | None = None
) -> "PhraseRecipe":
    """B questions in a batch and C preceding batches, none with C=0; a weight of 0 leaves out all negatives."""
    weights = recipe.weights if weight is None else replace(recipe.weights, negative=weight)
    never = recipe.loop.epochs
    return replace(
        recipe,
        batches=replace(recipe.batches, questions=questions),
        prebatches=prebatches or recipe.prebatches,
        prebatch_from=recipe.prebatch_from if prebatches else never,
        weights=weights,
    )
