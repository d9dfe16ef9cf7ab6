"""What `add` and `update` share: documents are read, counted and written into an index that exists."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import typer

from densephrases.text.readers.limits import parse_size


def change_index(
    change: Literal["add", "update"],
    folder: Path,
    paths: Sequence[Path],
    *,
    strict: bool,
    max_document: str,
    follow_links: bool,
    model: str | None,
) -> None:
    from densephrases.cli.show.building import Building
    from densephrases.search.phrase_index import PhraseIndex

    limit = parse_size(max_document)
    opened = PhraseIndex.open(folder, model)
    write = opened.add if change == "add" else opened.update
    with Building(folder, paths, strict=strict, max_document=limit, follow_links=follow_links) as building:
        building.reported(write(building.documents(), building.reported))
    typer.echo(building.summarise(opened.info()))
