"""`densephrases eval`: how right a model's answers are."""

import json
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from densephrases.cli.eval.articles import confidence, words
from densephrases.cli.eval.open import open_domain
from densephrases.cli.eval.slots import slots
from densephrases.cli.extras import quiet_transformers, require
from densephrases.cli.options import AsJson, LexicalWeight, Model, SquadData
from densephrases.errors import DataError
from densephrases.index.kinds import Quantizer

if TYPE_CHECKING:
    from densephrases.evaluate.reading import EncodedFile
    from densephrases.evaluate.tune.filter_threshold import FilterRow
    from densephrases.model.encoder import Encoder

app = typer.Typer(
    help="Evaluate models on annotated questions.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)
app.command("open")(open_domain)
app.command("slots")(slots)
app.command("confidence")(confidence)
app.command("words")(words)
progress_console = Console(stderr=True)


class Runtime(StrEnum):
    onnx = "onnx"
    torch = "torch"


class Precision(StrEnum):
    int8 = "int8"
    fp32 = "fp32"


RuntimeOption = Annotated[Runtime, typer.Option(help="onnx needs no torch; torch reads training checkpoints.")]
PrecisionOption = Annotated[Precision | None, typer.Option(help="Of the ONNX graphs [default: int8 if there].")]


@app.command()
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
        Quantizer | None, typer.Option(help="Read passages as an index keeps them [default: as they are].")
    ] = None,
    runtime: RuntimeOption = Runtime.onnx,
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """Exact match and F1 on a SQuAD file, as the official script computes them."""
    from densephrases.evaluate.reading import ReadingScores, read_collection, read_passages, write_predictions

    if predictions is not None and not predictions.parent.is_dir():  # said before the work, not after it
        raise DataError(
            f"Predictions cannot be written to '{predictions}': its folder does not exist; create it first."
        )
    encoder, encoded = _encode(data, model, runtime, precision)
    if quantizer is not None:
        encoded = encoded.kept_as(quantizer, encoder.product_quantizer, threshold)
    config = encoder.config if lexical_weight is None else encoder.config.with_lexical_weight(lexical_weight)
    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task("searching all passages" if all_passages else "reading", total=len(encoded.questions))
        if all_passages:
            found = read_collection(encoded, config, threshold, lambda n: progress.advance(bar, n))
        else:
            found = read_passages(encoded, config, threshold)
    if predictions is not None:
        write_predictions(found, predictions)
    result = asdict(ReadingScores.of(found)) | {
        "unanswerable": encoded.unanswerable,
        "passages": len(encoded.passages),
        "all_passages": all_passages,
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        scope = f"all {len(encoded.passages):,} passages" if all_passages else "each question's passage"
        typer.echo(f"{len(found):,} questions over {scope}: EM {result['exact_match']:.2f}, F1 {result['f1']:.2f}")


@app.command("filter")
def filter_(
    data: SquadData,
    model: Model = "small",
    write: Annotated[bool, typer.Option("--write", help="Store the chosen threshold in the model folder.")] = False,
    runtime: RuntimeOption = Runtime.onnx,
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """The filter's threshold against tokens kept and accuracy; chooses the most filtering for at most 0.5 EM."""
    from densephrases.evaluate.tune.filter_threshold import choose_threshold, default_thresholds, filter_table
    from densephrases.model.folders import resolve

    encoder, encoded = _encode(data, model, runtime, precision)
    rows = filter_table(encoded, encoder.config, default_thresholds(encoded))
    chosen = choose_threshold(rows)
    if write:
        encoder.config.with_threshold(chosen.threshold).save(resolve(model))
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows], "chosen": asdict(chosen)}))
    else:
        _print_filter_table(rows, chosen)


@app.command()
def length(
    data: SquadData,
    model: Model = "small",
    write: Annotated[bool, typer.Option("--write", help="Store the chosen penalty in the model folder.")] = False,
    runtime: RuntimeOption = Runtime.onnx,
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """What a phrase's length should cost: accuracy for several penalties; chooses the best sum of EM and F1."""
    from densephrases.evaluate.tune.length_penalty import choose_penalty, length_table
    from densephrases.model.folders import resolve

    encoder, encoded = _encode(data, model, runtime, precision)
    rows = length_table(encoded, encoder.config)
    chosen = choose_penalty(rows)
    if write:
        encoder.config.with_length_penalty(chosen.penalty).save(resolve(model))
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows], "chosen": asdict(chosen)}))
        return
    table = Table("penalty a character", "EM", "F1", "")
    for row in rows:
        mark = "chosen" if row == chosen else ""
        table.add_row(f"{row.penalty:.3f}", f"{row.exact_match:.2f}", f"{row.f1:.2f}", mark)
    Console().print(table)


@app.command()
def product_quantizer(
    data: SquadData,
    model: Model = "small",
    questions: Annotated[int, typer.Option(min=1, help="At most so many, from all over the file.")] = 10_000,
    passages: Annotated[int, typer.Option(min=1, help="At most so many, from all over the file.")] = 1_000,
    row_bytes: Annotated[
        int | None, typer.Option("--bytes", min=1, help="Of a kept token; an eighth of its numbers by default.")
    ] = None,
    write: Annotated[
        bool,
        typer.Option("--write", help="Store it in the model folder; compact indexes of a former code need that one."),
    ] = False,
    runtime: RuntimeOption = Runtime.onnx,
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """Learn how vectors become few bytes, for compact indexes, and say what is lost by it."""
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.quantizer import learned_code
    from densephrases.model.folders import resolve

    file = read_squad(data)
    encoder = _load(model, runtime, precision)
    with progress_console.status("encoding questions and passages, and learning the code"):
        found = learned_code(encoder, file, questions, passages, row_bytes)
    if write:
        found.product_quantizer.save(resolve(model))
    shown = {
        "dimensions": len(found.product_quantizer.mean_D),
        "row_bytes": found.row_bytes,
        "passage_bytes": found.passage_bytes,
        "score_error": found.score_error,
    }
    if as_json:
        typer.echo(json.dumps(shown))
        return
    typer.echo(
        f"{found.row_bytes} bytes a kept token of {len(found.product_quantizer.mean_D)} numbers, "
        f"{found.passage_bytes} a passage; "
        f"scores are off by {100 * found.score_error:.1f}% of their spread."
    )


def _print_filter_table(rows: list["FilterRow"], chosen: "FilterRow") -> None:
    table = Table("threshold", "tokens kept %", "EM", "F1", "")
    for row in rows:
        name = "none" if row.threshold is None else f"{row.threshold:.3f}"
        mark = "chosen" if row == chosen else ""
        table.add_row(name, f"{row.kept:.1f}", f"{row.exact_match:.2f}", f"{row.f1:.2f}", mark)
    Console().print(table)


@app.command()
def reader(
    data: SquadData,
    model: Annotated[Path, typer.Option(help="Folder of a trained reader.")],
    as_json: AsJson = False,
) -> None:
    """Exact match and F1 of a cross-attention reader (needs the extra 'train')."""
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.reading import ReadingScores
    from densephrases.nn.device import best_device, placed
    from densephrases.nn.reader import Reader
    from densephrases.train.reader import reader_predictions

    loaded = placed(Reader.from_pretrained(model), best_device())
    scores = ReadingScores.of(reader_predictions(loaded, read_squad(data)))
    if as_json:
        typer.echo(json.dumps(asdict(scores)))
    else:
        typer.echo(f"{scores.questions:,} questions: EM {scores.exact_match:.2f}, F1 {scores.f1:.2f}")


def _encode(data: Path, model: str, runtime: Runtime, precision: Precision | None) -> tuple["Encoder", "EncodedFile"]:
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.reading import encode_file

    passages = read_squad(data)
    encoder = _load(model, runtime, precision)
    with progress_console.status(f"encoding {len(passages):,} passages and their questions"):
        return encoder, encode_file(encoder, passages)


def _load(model: str, runtime: Runtime, precision: Precision | None) -> "Encoder":
    if runtime is Runtime.onnx:
        from densephrases.model.load import load

        return load(model, precision.value if precision else None)
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.nn.device import best_device, placed
    from densephrases.nn.phrase_model import PhraseModel

    return placed(PhraseModel.from_pretrained(model), best_device()).encoder()
