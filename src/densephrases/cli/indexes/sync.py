"""`densephrases sync`: an index in step with folders."""

from dataclasses import replace
from typing import Annotated

import typer

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import (
    LARGEST_DOCUMENT,
    AllFiles,
    DryRun,
    Exclude,
    Folders,
    FollowLinks,
    Include,
    MaxDocument,
    Moved,
    NamedRoots,
    ReplaceOthers,
    SkippedFile,
    Strict,
    source_options,
)
from densephrases.cli.options import IndexArgument, IndexModel


def sync(
    folder: IndexArgument,
    folders: Folders = None,
    dry_run: DryRun = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Delete the documents of folders from which all files are gone.")
    ] = False,
    root: NamedRoots = None,
    moved: Moved = False,
    replace_others: ReplaceOthers = False,
    include: Include = None,
    exclude: Exclude = None,
    all_files: AllFiles = False,
    strict: Strict = False,
    max_document: MaxDocument = LARGEST_DOCUMENT,
    follow_links: FollowLinks = False,
    report: SkippedFile = None,
    model: IndexModel = None,
) -> None:
    """Add new files of folders, replace changed ones, and delete the documents of those that have vanished.

    Only documents that came from below the folders are deleted. Files of the same size and date are not read, and those
    of the same content not encoded again.
    """
    options = source_options(
        root=root,
        include=include,
        exclude=exclude,
        all_files=all_files,
        strict=strict,
        max_document=max_document,
        follow_links=follow_links,
    )
    options = replace(options, allow_empty=allow_empty, replace_others=replace_others)
    change_index("sync", folder, folders, options, model=model, moved=moved, report_file=report, dry_run=dry_run)
