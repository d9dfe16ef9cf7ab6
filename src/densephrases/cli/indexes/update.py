"""`densephrases update`: new and changed documents into an index."""

from dataclasses import replace
from typing import TYPE_CHECKING

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import (
    DryRun,
    Moved,
    Paths,
    ReplaceOthers,
    SkippedFile,
    Strict,
    with_source_options,
)
from densephrases.cli.options import DeviceOption, IndexArgument, IndexModel

if TYPE_CHECKING:
    from densephrases.index.sync.options import SyncOptions


@with_source_options
def update(
    folder: IndexArgument,
    paths: Paths = None,
    *,
    dry_run: DryRun = False,
    options: "SyncOptions",
    moved: Moved = False,
    replace_others: ReplaceOthers = False,
    strict: Strict = False,
    report: SkippedFile = None,
    model: IndexModel = None,
    device: DeviceOption = "cpu",
) -> None:
    """Add documents to an index and replace those of the same id whose content has changed.

    Documents of files that have vanished stay; `densephrases sync` deletes them.
    """
    options = replace(options, prune=False, strict=strict, replace_others=replace_others)
    change_index(
        "update", folder, paths, options, model=model, moved=moved, report_file=report, dry_run=dry_run, device=device
    )
