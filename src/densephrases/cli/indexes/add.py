"""`densephrases add`: more documents into an index."""

import typer

from densephrases.cli.indexes.sources import LARGEST_DOCUMENT, FollowLinks, MaxDocument, Paths, Strict
from densephrases.cli.options import IndexArgument, IndexModel
from densephrases.text.readers.limits import parse_size


def add(
    folder: IndexArgument,
    paths: Paths,
    strict: Strict = False,
    max_document: MaxDocument = LARGEST_DOCUMENT,
    follow_links: FollowLinks = False,
    model: IndexModel = None,
) -> None:
    """Add documents to an index; those it has already, unchanged, are not encoded again."""
    from densephrases.cli.show.building import Building
    from densephrases.search.phrase_index import PhraseIndex

    limit = parse_size(max_document)
    opened = PhraseIndex.open(folder, model)
    with Building(folder, paths, strict=strict, max_document=limit, follow_links=follow_links) as building:
        building.reported(opened.add(building.documents(), building.reported))
    typer.echo(building.summarise(opened.info()))
