"""`densephrases sync`: an index in step with folders."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import (
    DryRun,
    Folders,
    Moved,
    ReplaceOthers,
    SkippedFile,
    Strict,
    with_source_options,
)
from densephrases.cli.options import DeviceOption, IndexArgument, IndexModel

if TYPE_CHECKING:
    from densephrases.index.sync.options import SyncOptions


@with_source_options
def sync(
    folder: IndexArgument,
    folders: Folders = None,
    *,
    dry_run: DryRun = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Delete the documents of folders from which all files are gone.")
    ] = False,
    options: "SyncOptions",
    moved: Moved = False,
    replace_others: ReplaceOthers = False,
    strict: Strict = False,
    report: SkippedFile = None,
    model: IndexModel = None,
    device: DeviceOption = "cpu",
) -> None:
    """Add new files of folders, replace changed ones, and delete the documents of those that have vanished.

    Only documents that came from below the folders are deleted. Files of the same size and date are not read, and those
    of the same content not encoded again.
    """
    options = replace(options, strict=strict, allow_empty=allow_empty, replace_others=replace_others)
    change_index(
        "sync", folder, folders, options, model=model, moved=moved, report_file=report, dry_run=dry_run, device=device
    )
