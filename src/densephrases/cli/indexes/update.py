"""`densephrases update`: new and changed documents into an index."""

import typer

from densephrases.cli.indexes.sources import Paths, Strict
from densephrases.cli.options import IndexArgument, IndexModel


def update(folder: IndexArgument, paths: Paths, strict: Strict = False, model: IndexModel = None) -> None:
    """Add documents to an index and replace those of the same id whose content has changed."""
    from densephrases.cli.show.building import Building
    from densephrases.search.phrase_index import PhraseIndex

    opened = PhraseIndex.open(folder, model)
    with Building(folder, paths, strict=strict) as building:
        building.reported(opened.update(building.documents(), building.reported))
    typer.echo(building.summarise(opened.info()))
