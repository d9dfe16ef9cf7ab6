"""`densephrases optimize`: an index merged into one segment, or into some for a cluster."""

from typing import Annotated

import typer
from rich.console import Console
from rich.filesize import decimal

from densephrases.cli.lines import counted
from densephrases.cli.options import IndexArgument

Segments = Annotated[int, typer.Option(help="Segments to leave at least, for shards of `cluster serve`.")]


def optimize(folder: IndexArgument, segments: Segments = 1) -> None:
    """Merge all segments and drop deleted documents: searches become faster and the index smaller."""
    from densephrases.index.folder import IndexFolder

    opened = IndexFolder.open(folder)
    before = opened.info()
    with Console(stderr=True).status("merging"):
        opened.optimize(segments)
    after = opened.info()
    typer.echo(
        f"{counted(after.documents, 'document')}: from {decimal(before.bytes)} to {decimal(after.bytes)}, "
        f"from {counted(before.segments, 'segment')} to {after.segments}"
    )
