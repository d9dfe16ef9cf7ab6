"""`densephrases eval reading`: reading comprehension on a SQuAD file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from densephrases.cli.encoding import PrecisionOption, RuntimeOption, encode_squad, progress_console
from densephrases.cli.options import AsJson, LexicalWeight, Model, SquadData
from densephrases.errors import DataError
from densephrases.index.kinds import Quantizer


def reading(
    data: SquadData,
    model: Model = "small",
    all_passages: Annotated[
        bool, typer.Option("--all-passages", help="Search every passage of the file for every question.")
    ] = False,
    threshold: Annotated[
        float | None, typer.Option(help="Leave out tokens whose filter logits do not exceed this.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(help="Write each question's answer to this JSON-lines file.")
    ] = None,
    lexical_weight: LexicalWeight = None,
    quantizer: Annotated[
        Quantizer | None, typer.Option(help="Quantise token vectors as an index does [default: full precision].")
    ] = None,
    runtime: RuntimeOption = "onnx",
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """Exact match and F1 on a SQuAD file, computed as in the official script."""
    from densephrases.evaluate.reading import ReadingScores, read_collection, read_passages, write_predictions

    _refuse_missing_folder(predictions)
    encoder, encoded = encode_squad(data, model, runtime, precision)
    if quantizer is not None:
        encoded = encoded.quantized(quantizer, encoder.product_quantizer, threshold)
    config = encoder.config if lexical_weight is None else encoder.config.with_lexical_weight(lexical_weight)
    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task("searching all passages" if all_passages else "reading", total=len(encoded.questions))
        if all_passages:
            found = read_collection(encoded, config, threshold, lambda n: progress.advance(bar, n))
        else:
            found = read_passages(encoded, config, threshold)
    if predictions is not None:
        write_predictions(found, predictions)
    result = asdict(ReadingScores.from_predictions(found)) | {
        "unanswerable": encoded.unanswerable,
        "passages": len(encoded.passages),
        "all_passages": all_passages,
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        scope = f"all {len(encoded.passages):,} passages" if all_passages else "each question's passage"
        typer.echo(f"{len(found):,} questions over {scope}: EM {result['exact_match']:.2f}, F1 {result['f1']:.2f}")


def _refuse_missing_folder(predictions: Path | None) -> None:
    """Before the work, not after it."""
    if predictions is not None and not predictions.parent.is_dir():
        raise DataError(
            f"Predictions cannot be written to '{predictions}': its folder does not exist; create it first."
        )
