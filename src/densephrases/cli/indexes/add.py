"""`densephrases add`: more documents into an index."""

from dataclasses import replace
from typing import TYPE_CHECKING

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import (
    Moved,
    Paths,
    SkippedFile,
    Strict,
    with_source_options,
)
from densephrases.cli.options import DeviceOption, IndexArgument, IndexModel

if TYPE_CHECKING:
    from densephrases.index.sync.options import SyncOptions


@with_source_options
def add(
    folder: IndexArgument,
    paths: Paths = None,
    *,
    options: "SyncOptions",
    moved: Moved = False,
    strict: Strict = False,
    report: SkippedFile = None,
    model: IndexModel = None,
    device: DeviceOption = "cpu",
) -> None:
    """Add documents to an index; those it has already, unchanged, are not encoded again."""
    options = replace(options, prune=False, strict=strict)
    change_index("add", folder, paths, options, model=model, moved=moved, report_file=report, device=device)
