"""`densephrases data get`: a published data set, verified and ready for the commands."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from densephrases.cli.options import AsJson

if TYPE_CHECKING:
    from densephrases.data.download.catalog import RemoteFile
    from densephrases.data.download.fetch import Progress as Received
    from densephrases.data.download.get import PresentFile, Watch

DataFolder = Annotated[Path, typer.Option("--out", "-o", help="Folder of all data sets.")]
LanguageOption = Annotated[str, typer.Option(help="Of the dump of Wikipedia, such as en or simple.")]
DateOption = Annotated[str, typer.Option(help="Of the dump of Wikipedia: latest, or one such as 20181220.")]

_CHECKS = {
    "published": "verified against the published checksum",
    "as before": "verified against the checksum recorded when it first came",
    "first seen": "no published checksum is known: recorded, to be verified from now on",
}


def get(
    name: Annotated[str, typer.Argument(help="A data set of `data list`, such as squad or nq.")],
    out: DataFolder = Path("data"),
    only: Annotated[
        list[str] | None, typer.Option(help="Only files with this name or pattern, such as 'trex-*'; may be repeated.")
    ] = None,
    language: LanguageOption = "en",
    date: DateOption = "latest",
    accept_changed: Annotated[
        bool, typer.Option("--accept-changed", help="Take files whose checksum differs from the known one.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Download a data set to OUT/NAME, verify it, and convert what no command reads as it is.

    A stopped download goes on when the command is given again. Files that are there already are verified, not
    downloaded, so that they can be put there by hand: `data list NAME` says where each is expected.
    """
    from densephrases.data.download.catalog import find_data_set
    from densephrases.data.download.get import get_data_set

    data_set = find_data_set(name, language, date)
    present = []
    with _downloads() as watch:
        for file in get_data_set(data_set, out, only or [], watch=watch, accept_changed=accept_changed):
            present.append(file)
            if not as_json:
                _print_file(file)
    if as_json:
        typer.echo(json.dumps([asdict(file) | {"path": str(file.path)} for file in present]))
    else:
        typer.echo(f"Licence: {data_set.licence}. Read by: {data_set.used_by}.")


def _print_file(file: "PresentFile") -> None:
    happened = f"made of {file.made_of}" if file.check is None else _CHECKS[file.check]
    came = "downloaded, " if file.downloaded else ""
    notes = "".join(f"; {note.rstrip('.')}" for note in file.notes)
    typer.echo(f"{file.path}: {file.bytes:,} bytes, {came}{happened}{notes}")


@contextmanager
def _downloads() -> "Iterator[Watch]":
    """A bar for each download, on stderr."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    bars = Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)

    def watch(file: "RemoteFile") -> "Received":
        bar = bars.add_task(file.name, total=file.bytes)
        return lambda done, total: bars.update(bar, completed=done, total=total)

    with bars:
        yield watch
