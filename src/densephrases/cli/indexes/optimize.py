"""`densephrases optimize`: an index merged into one segment."""

import typer
from rich.console import Console
from rich.filesize import decimal

from densephrases.cli.lines import counted
from densephrases.cli.options import IndexArgument


def optimize(folder: IndexArgument) -> None:
    """Merge all segments and drop deleted documents: searches become faster and the index smaller."""
    from densephrases.index.folder import IndexFolder

    opened = IndexFolder.open(folder)
    before = opened.info()
    with Console(stderr=True).status("merging"):
        opened.optimize()
    after = opened.info()
    typer.echo(
        f"{counted(after.documents, 'document')}: from {decimal(before.bytes)} to {decimal(after.bytes)}, "
        f"from {counted(before.segments, 'segment')} to {after.segments}"
    )
