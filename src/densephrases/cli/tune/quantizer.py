"""`densephrases tune quantizer`: the product quantizer of a model's vectors."""

import json
from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.encoding import PrecisionOption, RuntimeOption, load_encoder, progress_console
from densephrases.cli.options import AsJson
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune


def quantizer(
    model: ModelArgument,
    data: Annotated[list[Path], typer.Argument(metavar="DATA...", help="SQuAD JSON, plain or compressed.")],
    questions: Annotated[
        int, typer.Option(min=1, help="Learn from at most this many of each file, sampled evenly from it.")
    ] = 10_000,
    passages: Annotated[
        int, typer.Option(min=1, help="Learn from at most this many of each file, sampled evenly from it.")
    ] = 1_000,
    token_bytes: Annotated[
        int | None,
        typer.Option(
            "--bytes", min=1, help="Per kept token; `pq-small` has half [default: an eighth of its dimensions]."
        ),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Learn the components of vectors as well, and drop the former codebooks.")
    ] = False,
    dry_run: DryRun = False,
    runtime: RuntimeOption = "onnx",
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """Learn the codebooks of indexes with quantizer 'pq' and 'pq-small' and report the error of their scores.

    A model's former codebooks stay in its folder for indexes that were built with them.
    """
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.quantizer import learn_quantizer

    folder = folder_to_tune(model, dry_run)
    files = [read_squad(path) for path in data]
    encoder = load_encoder(folder, runtime, precision)
    with progress_console.status("encoding questions and passages, learning codebooks"):
        found = learn_quantizer(encoder, files, questions, passages, token_bytes, anew)
    if not dry_run:
        found.product_quantizer.save(folder)
    dimensions = len(found.product_quantizer.mean_D)
    if as_json:
        sizes = {"dimensions": dimensions, "token_bytes": found.token_bytes, "passage_bytes": found.passage_bytes}
        typer.echo(json.dumps(sizes | {"score_errors": found.score_errors}))
        return
    typer.echo(f"{dimensions} dimensions, {found.passage_bytes} bytes per passage.")
    for size, error in found.score_errors.items():
        typer.echo(
            f"{size} bytes per kept token; root mean square error of scores: {100 * error:.1f}% of their standard "
            "deviation."
        )
