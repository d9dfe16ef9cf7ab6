"""`densephrases add`: more documents into an index."""

from dataclasses import replace

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import (
    LARGEST_DOCUMENT,
    AllFiles,
    Exclude,
    FollowLinks,
    Include,
    MaxDocument,
    Moved,
    NamedRoots,
    Paths,
    SkippedFile,
    Strict,
    source_options,
)
from densephrases.cli.options import IndexArgument, IndexModel


def add(
    folder: IndexArgument,
    paths: Paths = None,
    root: NamedRoots = None,
    moved: Moved = False,
    include: Include = None,
    exclude: Exclude = None,
    all_files: AllFiles = False,
    strict: Strict = False,
    max_document: MaxDocument = LARGEST_DOCUMENT,
    follow_links: FollowLinks = False,
    report: SkippedFile = None,
    model: IndexModel = None,
) -> None:
    """Add documents to an index; those it has already, unchanged, are not encoded again."""
    options = source_options(
        root=root,
        include=include,
        exclude=exclude,
        all_files=all_files,
        strict=strict,
        max_document=max_document,
        follow_links=follow_links,
    )
    change_index("add", folder, paths, replace(options, prune=False), model=model, moved=moved, report_file=report)
