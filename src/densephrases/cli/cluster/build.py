"""`densephrases cluster build`: documents into a new index, on Ray."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from densephrases.cli.cluster.address import Address
from densephrases.cli.indexes.changes import refuse_nothing
from densephrases.cli.indexes.index import CandidatesOption, FilterThreshold, QuantizerOption, threshold_of
from densephrases.cli.indexes.sources import SkippedFile, Strict, with_source_options

if TYPE_CHECKING:
    from densephrases.index.sync.options import SyncOptions

Sources = Annotated[
    list[Path] | None,
    typer.Argument(metavar="SOURCE...", help="Files and folders, which all nodes see under the same paths."),
]
Out = Annotated[
    str,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER_OR_URL",
        help="New folder that all nodes see, or a URL such as s3://bucket/wiki; or an unfinished index to go on with.",
    ),
]
Model = Annotated[str, typer.Option(help="Bundled model, or folder of an exported one, which all nodes have.")]
Encoders = Annotated[
    int | None, typer.Option(help="How many actors encode [default: one for each GPU, or for each four cores].")
]
GpusPerEncoder = Annotated[
    float, typer.Option(help="GPUs of an encoder, which then encodes on them; 0 encodes on the CPU.")
]
Restart = Annotated[bool, typer.Option("--restart", help="Drop what an unfinished build has done.")]


@with_source_options
def build(
    out: Out,
    sources: Sources = None,
    *,
    address: Address = None,
    encoders: Encoders = None,
    gpus_per_encoder: GpusPerEncoder = 0.0,
    model: Model = "small",
    filter_threshold: FilterThreshold = "",
    quantizer: QuantizerOption = None,
    candidates: CandidatesOption = None,
    options: "SyncOptions",
    strict: Strict = False,
    report: SkippedFile = None,
    restart: Restart = False,
) -> None:
    """Index documents on Ray. After an interruption, run the same command again to go on."""
    from dataclasses import replace

    from densephrases.cluster.connection import require_ray

    require_ray()
    from densephrases.cli.show.building import refuse_inside
    from densephrases.cli.show.cluster_build import ClusterBuilding
    from densephrases.cluster.build.cluster_build import ClusterOptions, build_index
    from densephrases.text.readers.files import refuse_missing_folder
    from densephrases.text.readers.folders.read_report import ReadReport, reporting

    cluster = ClusterOptions(
        model=model,
        quantizer=quantizer,
        filter_threshold=threshold_of(filter_threshold),
        candidates=candidates,
        address=address,
        encoders=encoders,
        gpus_per_encoder=gpus_per_encoder,
        restart=restart,
    )
    given, read = refuse_nothing(sources, options), ReadReport()
    refuse_missing_folder(report)
    if "://" not in out:
        refuse_inside(Path(out), [*given, *options.named.values()])
    with reporting(read, report), ClusterBuilding(out) as building:
        made = build_index(out, given, cluster, replace(options, strict=strict), read, building.reported)
    typer.echo(building.summarise(made, read))
