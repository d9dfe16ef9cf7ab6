"""`densephrases reproduce`: one of the paper's tables, ours beside the paper's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.options import AsJson, Cpu
from densephrases.cli.train.options import Settings
from densephrases.reproduce.inputs import Inputs, Size
from densephrases.reproduce.paper import PAPER, TableName

if TYPE_CHECKING:
    from densephrases.reproduce.table import ReproducedTable
    from densephrases.train.loop.loop import Observer

console = Console(stderr=True, highlight=False, soft_wrap=True)


def reproduce(
    table: Annotated[TableName, typer.Argument(metavar="TABLE", help=f"One of {', '.join(PAPER)}.")],
    data: Annotated[Path, typer.Option(help="Folder of data sets, as `data get` fills it.")] = Path("data"),
    models: Annotated[Path, typer.Option(help="Folder of base models: gte and mpnet.")] = Path("models"),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder of the run [default: runs/reproduce-TABLE].")
    ] = None,
    size: Annotated[
        Size, typer.Option(help="Of what is trained; smoke: random weights and a few bundled passages, in a minute.")
    ] = "small",
    model: Annotated[
        str | None, typer.Option(help="Name or folder of a phrase model to evaluate or fine-tune; none is trained.")
    ] = None,
    reader: Annotated[Path | None, typer.Option(help="Folder of a reader; none is trained.")] = None,
    base: Annotated[str | None, typer.Option(help="Base model of what is trained [default: the size's].")] = None,
    index: Annotated[Path | None, typer.Option(help="Index to ask questions of.")] = None,
    documents: Annotated[
        list[Path] | None, typer.Option(help="Files to make an index of, if there is none; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Most questions asked of a file, a sample [default: all].")] = None,
    settings: Settings = None,
    cpu: Cpu = False,
    as_json: AsJson = False,
) -> None:
    """Run the steps of one of the paper's tables and print our figures beside the paper's.

    A stopped run goes on when the command is given again; OUT has the result of each step. What the data folder lacks
    is left out, and said.
    """
    from densephrases.reproduce.table import reproduce as run

    inputs = Inputs(
        data=data,
        models=models,
        out=out or Path("runs") / f"reproduce-{table}",
        size=size,
        model=model,
        reader=reader,
        base=base,
        index=index,
        documents=tuple(documents or ()),
        limit=limit,
        settings=tuple(settings or ()),
        cpu=cpu,
    )
    made = run(table, inputs, console.print, lambda name, folder, recipe: _watched(name, folder, recipe, cpu))
    if as_json:
        typer.echo(json.dumps(made.to_dict()))
    else:
        _print(made, size)


@contextmanager
def _watched(name: str, folder: Path, recipe: Any, cpu: bool) -> "Iterator[list[Observer]]":
    """A bar and a log of each training run."""
    from densephrases.cli.extras import quiet_transformers
    from densephrases.cli.show.training import watch_training

    quiet_transformers()
    with watch_training(name, folder, recipe, cpu) as watch:
        yield watch.observers


def _print(made: "ReproducedTable", size: Size) -> None:
    typer.echo(f"{made.number} of the paper: {made.title}")
    shown = Table()
    shown.add_column("", no_wrap=True)
    for heading in (f"{column}\n{whose}" for column in made.columns for whose in ("ours", "paper")):
        shown.add_column(heading, justify="right")
    for row in made.rows:
        pairs = zip(row.ours, row.paper, strict=True)
        shown.add_row(row.name, *(_figure(value) for pair in pairs for value in pair))
    Console(highlight=False, width=max(Console().width, 160)).print(shown)
    if size == "smoke":
        typer.echo("A few bundled passages stand in for all data: these figures only show that all steps run.")


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.4g}" if 0 < abs(value) < 1 else f"{value:,.2f}"
