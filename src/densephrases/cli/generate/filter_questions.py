"""`densephrases generate filter`: keep the questions that a reader answers as intended."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.extras import quiet_transformers, require
from densephrases.cli.generate.options import ExcludeQuestions, GeneratedFile, SquadOut
from densephrases.cli.generate.progress import progress_bar, show_leaks
from densephrases.cli.lines import counted
from densephrases.cli.options import AsJson, Cpu

if TYPE_CHECKING:
    from densephrases.train.augment.round_trip import FilterReport


def filter_questions(
    file: GeneratedFile,
    reader: Annotated[Path, typer.Option(help="Folder of a trained reader.")],
    out: SquadOut,
    f1: Annotated[float | None, typer.Option(help="Minimum F1 of the answer [default: exact match].")] = None,
    per_question: Annotated[
        int | None, typer.Option(help="Maximum number of passages per question, the surest first [default: all].")
    ] = None,
    exclude: ExcludeQuestions = None,
    as_json: AsJson = False,
    cpu: Cpu = False,
) -> None:
    """Keep the questions that a reader answers as intended; passages without questions stay as hard negatives."""
    require("train", "torch", "transformers", "safetensors")
    quiet_transformers()
    from densephrases.train.augment import round_trip

    with progress_bar("passages") as advance:
        report = round_trip.filter_questions(file, reader, out, f1, exclude or [], cpu, advance, per_question)
    show_leaks(report.leaks, exclude)
    if as_json:
        rows = {name: {"questions": read, "passed": passed} for name, read, passed in report.rows()}
        counts = {"negatives": report.negatives, "unanswerable": report.unanswerable}
        typer.echo(json.dumps({"types": rows, **counts, "leaks": asdict(report.leaks)}))
    else:
        Console(highlight=False).print(_table(report))
        if report.negatives:
            typer.echo(f"{counted(report.negatives, 'passage')} without questions kept as hard negatives.")
        if report.unanswerable:
            typer.echo(f"{counted(report.unanswerable, 'question')} kept without an answer: the reader finds none.")


def _table(report: "FilterReport") -> Table:
    table = Table("type", "questions", "passed", "share %")
    for name, read, passed in report.rows():
        table.add_row(name, f"{read:,}", f"{passed:,}", f"{100 * passed / max(read, 1):.1f}")
    return table
