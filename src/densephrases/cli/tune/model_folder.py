"""Arguments of all commands that change a model."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.model.folders import resolve, writable_folder

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model folder to change; copy a bundled model to tune it.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the result and change nothing.")]


def folder_to_tune(model: str, dry_run: bool) -> Path:
    """Refuses a bundled model before the work; without writing any model will do."""
    return resolve(model) if dry_run else writable_folder(model)
