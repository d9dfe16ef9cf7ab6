"""`densephrases tune confidence`: the weights that turn scores into probabilities, of a model or of an index."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.article_index import ArticleIndexOption
from densephrases.cli.eval.confidence import (
    OffTopicOption,
    PlotOption,
    SwappedOption,
    UnanswerableOption,
    measure_confidence,
    refuse_missing_packages,
    show_confidence,
)
from densephrases.cli.options import AsJson, IndexModel, Task
from densephrases.cli.tune.model_folder import DryRun, folder_to_tune
from densephrases.cli.tune.own_confidence import reset_index, tune_index
from densephrases.errors import ConfigError
from densephrases.model.config import CONFIG_FILE
from densephrases.model.folders import bundled_names

ModelOrIndex = Annotated[
    str,
    typer.Argument(
        metavar="MODEL|INDEX",
        help="Model folder to change, or an index whose confidences are fitted to your questions.",
    ),
]
Data = Annotated[
    Path | None,
    typer.Argument(
        metavar="DATA",
        show_default=False,
        help="Of a model: SQuAD JSON, plain or compressed. Of an index: your questions with their answers, as for "
        "`eval own --questions`.",
    ),
]
Absent = Annotated[
    float,
    typer.Option(
        help="Share of the questions that are asked a second time without their article; of an index, of those with a "
        "right answer, without the documents that have it."
    ),
]
Reset = Annotated[bool, typer.Option("--reset", help="Remove what was fitted to your questions from an index.")]

_OF_INDEX = {"reset": "--reset", "task": "--task", "index_model": "--model"}
_OF_MODEL = {
    "unanswerable": "--unanswerable",
    "swapped": "--swapped",
    "off_topic": "--off-topic",
    "index": "--index",
    "plot": "--plot",
}


def confidence(
    context: typer.Context,
    model: ModelOrIndex,
    data: Data = None,
    unanswerable: UnanswerableOption = None,
    absent: Absent = 0.25,
    swapped: SwappedOption = 0.1,
    off_topic: OffTopicOption = None,
    index: ArticleIndexOption = None,
    plot: PlotOption = None,
    task: Task = None,
    index_model: IndexModel = None,
    reset: Reset = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Fit confidences: of a model to a SQuAD file, or of an index to your own questions about it.

    Of a model, the questions are asked of an index of the file's articles, and reported as by `eval confidence`. Of an
    index, a file of at least ten questions with their answers is enough; what is fitted is stored in the index.
    """
    is_index = _is_index(model)
    _refuse_options(context, model, _OF_MODEL if is_index else _OF_INDEX, is_index=is_index)
    if reset:
        if data is not None or dry_run:
            raise ConfigError(f"--reset goes without {'--dry-run' if data is None else 'DATA'}; leave one of them out.")
        reset_index(Path(model))
        return
    if data is None:
        raise ConfigError(f"DATA is missing; expected {_expected(is_index)}.")
    if is_index:
        tune_index(Path(model), data, absent, index_model, task, dry_run, as_json)
        return
    refuse_missing_packages(plot)
    folder = folder_to_tune(model, dry_run)
    from densephrases.model.load import load

    encoder = load(folder)
    found = measure_confidence(encoder, data, unanswerable, absent, swapped, off_topic, index)
    if not dry_run:
        encoder.config.with_confidence(found.weights).save(folder)
    show_confidence(found, plot, as_json)


def _expected(is_index: bool) -> str:
    return "a file of questions with their answers" if is_index else "a SQuAD file"


def _is_index(given: str) -> bool:
    """Refuses what is neither a model nor an index."""
    from densephrases.index.manifest import MANIFEST_FILE

    folder = Path(given)
    if given in bundled_names() or (folder / CONFIG_FILE).is_file():
        return False
    if (folder / MANIFEST_FILE).is_file():
        return True
    raise ConfigError(
        f"'{given}' is neither a model nor an index; expected a model folder, which has a {CONFIG_FILE}, or an index "
        f"folder, which has a {MANIFEST_FILE}."
    )


def _refuse_options(context: typer.Context, given: str, others: dict[str, str], *, is_index: bool) -> None:
    for name, option in others.items():
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            is_what, goes_with = ("an index", "a model") if is_index else ("a model", "an index")
            raise ConfigError(f"{option} goes with {goes_with}, and '{given}' is {is_what}; leave it out.")
