"""`densephrases check`: every file of an index against its checksum."""

import typer
from rich.console import Console
from rich.filesize import decimal

from densephrases.cli.lines import counted
from densephrases.cli.options import IndexArgument

_DAMAGED = 1  # exit code


def check(folder: IndexArgument) -> None:
    """Read every file of an index and report each that is damaged; the exit code is then 1."""
    from densephrases.index.folder import IndexFolder
    from densephrases.index.snapshot import problems

    with Console(stderr=True).status("reading every file"):
        found = problems(folder)  # before it is opened, which stops at the first file of a wrong size
    for problem in found:
        typer.echo(problem)
    if found:
        raise typer.Exit(_DAMAGED)
    opened = IndexFolder.open(folder)
    size = decimal(opened.info().bytes)
    typer.echo(f"{counted(opened.documents, 'document')} in {size}: every file is as it was written")
