"""`densephrases data list`: names, addresses, sizes and licences."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal

from densephrases.cli.data.get import DataFolder, DateOption, LanguageOption
from densephrases.cli.lines import counted
from densephrases.cli.options import AsJson

if TYPE_CHECKING:
    from densephrases.data.download.catalog import DataSet


def list_data(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show the files of this data set.")] = None,
    out: DataFolder = Path("data"),
    language: LanguageOption = "en",
    date: DateOption = "latest",
    as_json: AsJson = False,
) -> None:
    """The data sets that `data get` knows; with a name its files, their addresses and where they are expected."""
    from densephrases.data.download.catalog import DATA_SETS, find_data_set

    chosen = [find_data_set(each, language, date) for each in (DATA_SETS if name is None else [name])]
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in chosen]))
    elif name is None:
        _print_all(chosen)
    else:
        _print_files(chosen[0], out)


def _print_all(data_sets: "list[DataSet]") -> None:
    for each in data_sets:
        sizes = [file.bytes for file in each.files]
        known = decimal(sum(size or 0 for size in sizes))
        shown = known if all(sizes) else (f"over {known}" if any(sizes) else "size unknown")
        typer.echo(f"{each.name}: {each.title}")
        typer.echo(f"  {counted(len(each.files), 'file')}, {shown}; licence: {each.licence}; read by: {each.used_by}")


def _print_files(data_set: "DataSet", out: Path) -> None:
    typer.echo(f"{data_set.title}. Licence: {data_set.licence}. Read by: {data_set.used_by}.")
    for file in data_set.files:
        size = "size unknown" if file.bytes is None else decimal(file.bytes)
        check = "no published checksum: recorded when it first comes"
        if file.sha256 is not None:
            check = f"SHA-256 {file.sha256}"
        elif file.sha1_list is not None:
            check = f"SHA-1 in {file.sha1_list}"
        typer.echo(f"{out / data_set.name / file.name}\n  {file.address}\n  {size}; {check}")
        for target in file.to:
            typer.echo(f"  made of it: {out / data_set.name / target}")
