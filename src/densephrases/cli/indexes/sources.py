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
MaxDocument = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Skip documents with more bytes, decompressed; such as 500K, 50M or 1G."),
]
FollowLinks = Annotated[
    bool, typer.Option("--follow-links", help="Read what symbolic links inside folders lead to [default: skip links].")
]
LARGEST_DOCUMENT = "50M"
Strict = Annotated[bool, typer.Option("--strict", help="Fail at the first file or record that cannot be read.")]
