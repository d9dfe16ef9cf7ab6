"""`densephrases delete`: documents out of an index."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.lines import counted, read_lines
from densephrases.cli.options import IndexArgument
from densephrases.errors import DataError


def delete(
    folder: IndexArgument,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Id of a document; may be repeated.")] = None,
    ids_file: Annotated[Path | None, typer.Option(help="File with one id per line.")] = None,
) -> None:
    """Delete documents by id. If any id is unknown, nothing is deleted."""
    from densephrases.index.folder import IndexFolder

    wanted = [*(ids or []), *(read_lines(ids_file) if ids_file is not None else [])]
    if not wanted:
        raise DataError("No ids given; name the documents to delete with --id or --ids-file.")
    opened = IndexFolder.open(folder)
    deleted = opened.delete(wanted)
    typer.echo(f"{counted(deleted, 'document')} deleted, {opened.documents:,} left")
