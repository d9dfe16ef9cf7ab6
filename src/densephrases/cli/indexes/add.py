"""`densephrases add`: more documents into an index."""

from densephrases.cli.indexes.changes import change_index
from densephrases.cli.indexes.sources import LARGEST_DOCUMENT, FollowLinks, MaxDocument, Paths, Strict
from densephrases.cli.options import IndexArgument, IndexModel


def add(
    folder: IndexArgument,
    paths: Paths,
    strict: Strict = False,
    max_document: MaxDocument = LARGEST_DOCUMENT,
    follow_links: FollowLinks = False,
    model: IndexModel = None,
) -> None:
    """Add documents to an index; those it has already, unchanged, are not encoded again."""
    change_index("add", folder, paths, strict=strict, max_document=max_document, follow_links=follow_links, model=model)
