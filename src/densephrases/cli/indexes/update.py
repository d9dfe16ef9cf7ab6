"""`densephrases update`: new and changed documents into an index."""

from dataclasses import replace

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import (
    LARGEST_DOCUMENT,
    AllFiles,
    DryRun,
    Exclude,
    FollowLinks,
    Include,
    MaxDocument,
    Moved,
    NamedRoots,
    Paths,
    ReplaceOthers,
    SkippedFile,
    Strict,
    source_options,
)
from densephrases.cli.options import IndexArgument, IndexModel


def update(
    folder: IndexArgument,
    paths: Paths = None,
    dry_run: DryRun = False,
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
    """Add documents to an index and replace those of the same id whose content has changed.

    Documents of files that have vanished stay; `densephrases sync` deletes them.
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
    options = replace(options, prune=False, replace_others=replace_others)
    change_index("update", folder, paths, options, model=model, moved=moved, report_file=report, dry_run=dry_run)
