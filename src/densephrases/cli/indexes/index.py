"""`densephrases index`: documents into a new index."""

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.cli.indexes.changes import refuse_nothing
from densephrases.cli.indexes.sources import (
    Paths,
    SkippedFile,
    Strict,
    with_source_options,
)
from densephrases.cli.options import DeviceOption
from densephrases.errors import ConfigError
from densephrases.index.kinds import CandidateKind, Quantizer

if TYPE_CHECKING:
    from densephrases.index.sync.options import SyncOptions
    from densephrases.search.phrase_index import Threshold


Out = Annotated[Path, typer.Option("--out", "-o", help="New folder for the index, or an unfinished one to resume.")]
BuildingModel = Annotated[
    str, typer.Option(help="Bundled model, or folder of an exported one; with --device cuda also of a checkpoint.")
]
FilterThreshold = Annotated[
    str,
    typer.Option(metavar="NUMBER|none", help="Leave out tokens whose filter logit is lower [default: the model's]."),
]
QuantizerOption = Annotated[
    Quantizer | None,
    typer.Option(
        help="How vectors are stored; `pq-small` takes half the bytes of `pq` and needs passages to be read again, "
        "as they are by default [default: pq if the model has codebooks, else int8]."
    ),
]
CandidatesOption = Annotated[
    CandidateKind | None,
    typer.Option(
        help="Kind of candidate index; of millions of vectors `passages` takes fewer bytes and `clusters` less time "
        "[default: chosen by size]."
    ),
]


@with_source_options
def index(
    out: Out,
    paths: Paths = None,
    *,
    model: BuildingModel = "small",
    filter_threshold: FilterThreshold = "",
    quantizer: QuantizerOption = None,
    candidates: CandidatesOption = None,
    device: DeviceOption = "cpu",
    options: "SyncOptions",
    strict: Strict = False,
    report: SkippedFile = None,
) -> None:
    """Index documents into a new folder. After an interruption, run the same command again to resume."""
    from densephrases.cli.show.building import Building, source_of
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.readers.files import refuse_missing_folder
    from densephrases.text.readers.folders.read_report import ReadReport, reporting

    threshold, read = threshold_of(filter_threshold), ReadReport()
    options = replace(options, strict=strict)
    given = refuse_nothing(paths, options)
    refuse_missing_folder(report)
    with reporting(read, report):
        documents, files = source_of(out, given, options, read)
        with Building(out, documents, files, read) as building:
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


def threshold_of(written: str) -> "Threshold":
    if written in ("", "none"):
        return None if written else "model"
    try:
        threshold = float(written)
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise ConfigError(f"--filter-threshold={written} is neither a finite number nor 'none'.")
    return threshold
