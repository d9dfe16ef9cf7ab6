"""The arguments that name the documents to index."""

from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATHS...",
        help="Files and folders: text, Markdown, HTML, JSON, JSON lines, CSV, PDF, Wikipedia dumps; .gz .xz .bz2.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail at the first file or record that cannot be read.")]
