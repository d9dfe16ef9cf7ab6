"""`densephrases index` and the commands that change, describe and check an index."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.table import Table

from densephrases.cli.lines import counted, read_lines
from densephrases.cli.options import AsJson, IndexArgument, IndexModel
from densephrases.errors import ConfigError, DataError
from densephrases.index.kinds import CandidateKind, Device, Quantizer

if TYPE_CHECKING:
    from densephrases.index.disk_usage import Storage
    from densephrases.index.folder import IndexInfo
    from densephrases.search.phrase_index import Threshold

_DAMAGED = 1  # exit code of `check`


Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATHS...",
        help="Files and folders: text, Markdown, HTML, JSON, JSON lines, CSV, PDF, Wikipedia dumps; .gz .xz .bz2.",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail at the first file or record that cannot be read.")]


def index(
    paths: Paths,
    out: Annotated[Path, typer.Option(help="New folder for the index, or an unfinished one to go on with.")],
    model: Annotated[
        str,
        typer.Option(help="A bundled model's name or the folder of an exported model; on a GPU of a checkpoint too."),
    ] = "small",
    filter_threshold: Annotated[
        str,
        typer.Option(metavar="NUMBER|none", help="Leave out tokens with lower filter logits [default: the model's]."),
    ] = "",
    quantizer: Annotated[
        Quantizer | None,
        typer.Option(help="How vectors are stored [default: pq if the model has codebooks, else int8]."),
    ] = None,
    candidates: Annotated[
        CandidateKind | None, typer.Option(help="Kind of candidate index [default: chosen by size].")
    ] = None,
    device: Annotated[Device, typer.Option(help="What encodes passages: the CPU or a GPU.")] = "cpu",
    strict: Strict = False,
) -> None:
    """Index documents in a new folder. If it is stopped, even killed, the same command goes on from there."""
    from densephrases.cli.show.building import Building
    from densephrases.search.phrase_index import PhraseIndex

    threshold = _threshold(filter_threshold)
    with Building(out, paths, strict=strict) as building:
        made = PhraseIndex.create(
            out,
            building.documents(),
            model=model,
            quantizer=quantizer,
            filter_threshold=threshold,
            candidates=candidates,
            device=device,
            progress=building.reported,
        )
    typer.echo(building.summarise(made.info()))


def _threshold(written: str) -> "Threshold":
    if written in ("", "none"):
        return None if written else "model"
    try:
        return float(written)
    except ValueError:
        raise ConfigError(f"--filter-threshold={written} is neither a number nor 'none'.") from None


def add(folder: IndexArgument, paths: Paths, strict: Strict = False, model: IndexModel = None) -> None:
    """Add documents; those that are there already, unchanged, are passed over."""
    from densephrases.cli.show.building import Building
    from densephrases.search.phrase_index import PhraseIndex

    opened = PhraseIndex.open(folder, model)
    with Building(folder, paths, strict=strict) as building:
        building.reported(opened.add(building.documents(), building.reported))
    typer.echo(building.summarise(opened.info()))


def update(folder: IndexArgument, paths: Paths, strict: Strict = False, model: IndexModel = None) -> None:
    """Add documents, replacing those of the same id whose content has changed."""
    from densephrases.cli.show.building import Building
    from densephrases.search.phrase_index import PhraseIndex

    opened = PhraseIndex.open(folder, model)
    with Building(folder, paths, strict=strict) as building:
        building.reported(opened.update(building.documents(), building.reported))
    typer.echo(building.summarise(opened.info()))


def delete(
    folder: IndexArgument,
    ids: Annotated[list[str] | None, typer.Option("--id", help="Id of a document; may be given several times.")] = None,
    ids_file: Annotated[Path | None, typer.Option(help="File with an id a line.")] = None,
) -> None:
    """Delete documents by their ids; if one is unknown, none is deleted."""
    from densephrases.index.folder import IndexFolder

    wanted = [*(ids or []), *(read_lines(ids_file) if ids_file is not None else [])]
    if not wanted:
        raise DataError("No ids are given; name the documents to delete with --id or --ids-file.")
    opened = IndexFolder.open(folder)
    deleted = opened.delete(wanted)
    typer.echo(f"{counted(deleted, 'document')} deleted, {opened.documents:,} left")


def optimize(folder: IndexArgument) -> None:
    """Merge what was added and drop what was deleted: asking becomes faster and the index smaller."""
    from densephrases.index.folder import IndexFolder

    opened = IndexFolder.open(folder)
    before = opened.info()
    with Console(stderr=True).status("merging"):
        opened.optimize()
    after = opened.info()
    typer.echo(
        f"{counted(after.documents, 'document')}: from {decimal(before.bytes)} to {decimal(after.bytes)}, "
        f"from {counted(before.segments, 'segment')} to {after.segments}"
    )


def info(
    folder: IndexArgument,
    storage: Annotated[bool, typer.Option("--storage", help="Show what the bytes are for, per token of text.")] = False,
    as_json: AsJson = False,
) -> None:
    """What an index holds and how it was made."""
    from densephrases.index.folder import IndexFolder

    opened = IndexFolder.open(folder)
    found, parts = opened.info(), opened.storage() if storage else None
    if as_json:
        extra = {} if parts is None else {"storage": asdict(parts) | {"bytes_per_token": parts.bytes_per_token}}
        typer.echo(json.dumps(asdict(found) | extra))
        return
    for name, value in _described(found).items():
        typer.echo(f"{name:<17} {value}")
    if parts is not None:
        Console(highlight=False).print(_storage_table(parts))


def _storage_table(storage: "Storage") -> Table:
    """Bytes of each part: in all, for a kept token and for a token of the text."""
    title = f"{storage.rows:,} of {counted(storage.tokens, 'token')} kept"
    table = Table("part", "bytes", "per kept token", "per token", title=title)
    for name, size in [*storage.parts.items(), ("all", storage.bytes)]:
        rates = (f"{size / max(count, 1):.2f}" for count in (storage.rows, storage.tokens))
        table.add_row(name, f"{size:,}", *rates, end_section=name == "deleted")
    return table


def _described(found: "IndexInfo") -> dict[str, str]:
    settings = found.settings
    threshold = settings.filter_threshold
    return {
        "documents": f"{found.documents:,}",
        "deleted": f"{found.deleted:,}",
        "passages": f"{found.passages:,}",
        "vectors": f"{found.rows:,} of {settings.dim} dimensions as {settings.quantizer}",
        "size": f"{decimal(found.bytes)} in {counted(found.segments, 'segment')}",
        "model": f"{settings.model} ({settings.fingerprint})",
        "filter threshold": "none" if threshold is None else f"{threshold:g}",
        "candidates": settings.candidates or "chosen by size",
        "written by": f"densephrases {found.package_version}",
        "state": "unfinished: run the command that was stopped again" if found.building else "complete",
    }


def check(folder: IndexArgument) -> None:
    """Read every file of an index; prints a sentence for each that is damaged, and then ends with exit code 1."""
    from densephrases.index.folder import IndexFolder

    opened = IndexFolder(folder)  # not `open`, which stops at the first file of a wrong size
    with Console(stderr=True).status("reading every file"):
        problems = opened.check()
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(_DAMAGED)
    size = decimal(opened.info().bytes)
    typer.echo(f"{counted(opened.documents, 'document')} in {size}: every file is as it was written")
