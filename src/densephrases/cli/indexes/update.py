"""`densephrases update`: new and changed documents into an index."""

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import LARGEST_DOCUMENT, FollowLinks, MaxDocument, Paths, Strict
from densephrases.cli.options import IndexArgument, IndexModel


def update(
    folder: IndexArgument,
    paths: Paths,
    strict: Strict = False,
    max_document: MaxDocument = LARGEST_DOCUMENT,
    follow_links: FollowLinks = False,
    model: IndexModel = None,
) -> None:
    """Add documents to an index and replace those of the same id whose content has changed."""
    change_index(
        "update", folder, paths, strict=strict, max_document=max_document, follow_links=follow_links, model=model
    )
