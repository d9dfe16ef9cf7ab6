"""`densephrases list`: the documents of an index."""

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.cli.conditions import Since, Until, Where, parse_conditions
from densephrases.cli.options import IndexArgument

if TYPE_CHECKING:
    from densephrases.search.collection.stored_documents import StoredDocument


def list_documents(
    folder: IndexArgument,
    where: Where = None,
    since: Since = None,
    until: Until = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per document.")] = False,
) -> None:
    """List the documents of an index: id, title and metadata.

    If stdout is not a terminal, each document is one line of fields separated by tabs, the metadata as JSON.
    """
    from densephrases.index.folder import IndexFolder
    from densephrases.search.collection.stored_documents import stored_documents
    from densephrases.search.filtering.filters import Filter

    wanted = Filter.from_conditions(parse_conditions(where, since, until), None)
    documents = stored_documents(IndexFolder.open(folder).snapshot, wanted)
    if as_json:
        for each in documents:
            typer.echo(json.dumps({"id": each.id, "title": each.title, "metadata": each.metadata}))
    elif sys.stdout.isatty():
        _show_table(documents)
    else:
        for each in documents:
            metadata = json.dumps(each.metadata, ensure_ascii=False)
            typer.echo("\t".join(" ".join(part.split()) for part in (each.id, each.title, metadata)))


def _show_table(documents: Iterable["StoredDocument"]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from densephrases.cli.show.answers import one_line

    table = Table("id", "title", "metadata")
    for each in documents:
        metadata = "\n".join(f"{key}: {value}" for key, value in each.metadata.items() if key not in ("path", "root"))
        table.add_row(Text(one_line(each.id)), Text(one_line(each.title)), Text(metadata, "dim"))
    Console(highlight=False).print(table)
