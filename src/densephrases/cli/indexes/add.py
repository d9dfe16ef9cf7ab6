"""`densephrases add`: more documents into an index."""

import typer

from densephrases.cli.indexes.sources import Paths, Strict
from densephrases.cli.options import IndexArgument, IndexModel


def add(folder: IndexArgument, paths: Paths, strict: Strict = False, model: IndexModel = None) -> None:
    """Add documents to an index; those it has already, unchanged, are not encoded again."""
    from densephrases.cli.show.building import Building
    from densephrases.search.phrase_index import PhraseIndex

    opened = PhraseIndex.open(folder, model)
    with Building(folder, paths, strict=strict) as building:
        building.reported(opened.add(building.documents(), building.reported))
    typer.echo(building.summarise(opened.info()))
