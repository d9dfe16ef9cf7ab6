"""`densephrases tune filter`: the threshold of the token filter."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.encoding import PrecisionOption, RuntimeOption, encode_squad
from densephrases.cli.options import AsJson, SquadData
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune

if TYPE_CHECKING:
    from densephrases.evaluate.tune.filter_threshold import FilterRow


def filter_(
    model: ModelArgument,
    data: SquadData,
    dry_run: DryRun = False,
    runtime: RuntimeOption = "onnx",
    precision: PrecisionOption = None,
    as_json: AsJson = False,
) -> None:
    """Pick the filter threshold that keeps the fewest tokens within 0.5 EM of no filter."""
    from densephrases.evaluate.tune.filter_threshold import choose_threshold, default_thresholds, filter_table

    folder = folder_to_tune(model, dry_run)
    encoder, encoded = encode_squad(data, folder, runtime, precision)
    rows = filter_table(encoded, encoder.config, default_thresholds(encoded))
    chosen = choose_threshold(rows)
    if not dry_run:
        encoder.config.with_threshold(chosen.threshold).save(folder)
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows], "chosen": asdict(chosen)}))
    else:
        _print_table(rows, chosen)


def _print_table(rows: list["FilterRow"], chosen: "FilterRow") -> None:
    table = Table("threshold", "tokens kept %", "EM", "F1", "")
    for row in rows:
        name = "none" if row.threshold is None else f"{row.threshold:.3f}"
        mark = "chosen" if row == chosen else ""
        table.add_row(name, f"{row.kept:.1f}", f"{row.exact_match:.2f}", f"{row.f1:.2f}", mark)
    Console().print(table)
