"""`densephrases tune quantizer`: the product quantizer of a model's vectors."""

import json
from typing import Annotated

import typer

from densephrases.cli.encoding import PrecisionOption, RuntimeOption, load_encoder, progress_console
from densephrases.cli.options import AsJson, SquadData
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune


def quantizer(
    model: ModelArgument,
    data: SquadData,
    questions: Annotated[
        int, typer.Option(min=1, help="Learn from at most this many, sampled evenly from the file.")
    ] = 10_000,
    passages: Annotated[
        int, typer.Option(min=1, help="Learn from at most this many, sampled evenly from the file.")
    ] = 1_000,
    token_bytes: Annotated[
        int | None, typer.Option("--bytes", min=1, help="Per kept token [default: an eighth of its dimensions].")
    ] = None,
    dry_run: DryRun = False,
    runtime: RuntimeOption = "onnx",
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """Learn the codebooks of indexes with quantizer 'pq' and report the error of their scores.

    Indexes that were built with the former codebooks cannot be searched with the new ones.
    """
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.quantizer import learn_quantizer

    folder = folder_to_tune(model, dry_run)
    file = read_squad(data)
    encoder = load_encoder(folder, runtime, precision)
    with progress_console.status("encoding questions and passages, learning codebooks"):
        found = learn_quantizer(encoder, file, questions, passages, token_bytes)
    if not dry_run:
        found.product_quantizer.save(folder)
    dimensions = len(found.product_quantizer.mean_D)
    if as_json:
        sizes = {"dimensions": dimensions, "token_bytes": found.token_bytes, "passage_bytes": found.passage_bytes}
        typer.echo(json.dumps(sizes | {"score_error": found.score_error}))
    else:
        typer.echo(
            f"{found.token_bytes} bytes per kept token of {dimensions} dimensions, {found.passage_bytes} per passage; "
            f"root mean square error of scores: {100 * found.score_error:.1f}% of their standard deviation."
        )
