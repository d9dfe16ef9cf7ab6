"""`densephrases tune length`: the penalty on the length of a phrase."""

import json
from dataclasses import asdict

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.encoding import PrecisionOption, RuntimeOption, encode_squad
from densephrases.cli.options import AsJson, SquadData
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune


def length(
    model: ModelArgument,
    data: SquadData,
    dry_run: DryRun = False,
    runtime: RuntimeOption = "onnx",
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """Pick the length penalty with the highest sum of EM and F1."""
    from densephrases.evaluate.tune.length_penalty import choose_penalty, length_table

    folder = folder_to_tune(model, dry_run)
    encoder, encoded = encode_squad(data, folder, runtime, precision)
    rows = length_table(encoded, encoder.config)
    chosen = choose_penalty(rows)
    if not dry_run:
        encoder.config.with_length_penalty(chosen.penalty).save(folder)
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows], "chosen": asdict(chosen)}))
        return
    table = Table("penalty per character", "EM", "F1", "")
    for row in rows:
        mark = "chosen" if row == chosen else ""
        table.add_row(f"{row.penalty:.3f}", f"{row.exact_match:.2f}", f"{row.f1:.2f}", mark)
    Console().print(table)
