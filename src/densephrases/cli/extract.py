"""`densephrases extract`: one relation of many subjects as a table."""

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TextIO

import typer
from rich.console import Console
from rich.progress import Progress

from densephrases.atomic_files import replacing
from densephrases.cli.lines import counted, read_lines
from densephrases.cli.options import IndexArgument, IndexModel, PreferTitles, Task
from densephrases.errors import ConfigError, DataError

if TYPE_CHECKING:
    from densephrases.search.facts.relations import Fact

TableFormat = Literal["csv", "jsonl"]

COLUMNS = ("subject", "object", "confidence", "sentence", "title", "document", "start", "end")
progress_console = Console(stderr=True, highlight=False)


def extract(
    folder: IndexArgument,
    relation: Annotated[str, typer.Option(help="Relation to extract, such as 'place of birth'.")],
    subjects: Annotated[Path, typer.Option(help="File with one subject per line; further names of it after tabs.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Output file, .csv or .jsonl [default: CSV on stdout].")
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option(help="Drop objects below this probability, from 0 to 1 [default: 0.1].")
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(
            help="Question with {subject} and {relation} [default: questions for common relations, else "
            "'what is the {relation} of {subject}?'; with --task '{subject} [SEP] {relation}']."
        ),
    ] = None,
    prefer_titles: PreferTitles = True,
    anywhere: Annotated[
        bool,
        typer.Option("--anywhere", help="Also take objects from text that names not the subject or not the relation."),
    ] = False,
    task: Task = None,
    model: IndexModel = None,
) -> None:
    """Extract the object of a relation for each subject, with confidence, sentence, document and offsets.

    The object is empty if no text about the subject states the relation, or none reaches --min-confidence.
    """
    from densephrases.search.facts.relations import SLOT
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.readers.files import refuse_missing_folder

    form = _format(out)
    refuse_missing_folder(out)
    lines = [[name.strip() for name in line.strip().split("\t")] for line in read_lines(subjects)]
    names = [first for first, *_ in lines]
    if not names:
        raise DataError(f"'{subjects}' names no subject; expected one per line.")
    index = PhraseIndex.open(folder, model, task)
    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task("extracting", total=len(names))
        facts = index.extract(
            names,
            relation,
            template=template or (None if task is None else SLOT),
            prefer_titles=prefer_titles,
            min_confidence=min_confidence,
            anywhere=anywhere,
            aliases={first: others for first, *others in lines},
            advance=lambda count: progress.advance(bar, count),
        )
    if out is None:
        write_table(sys.stdout, form, facts)
        return
    with replacing(out) as new, new.open("w", encoding="utf-8", newline="") as file:
        write_table(file, form, facts)
    found = sum(fact.object is not None for fact in facts)
    progress_console.print(f"{counted(found, 'object')} of {counted(len(names), 'subject')} written to {out}")


def _format(out: Path | None) -> TableFormat:
    suffix = ".csv" if out is None else out.suffix.lower()
    match suffix:
        case ".csv":
            return "csv"
        case ".jsonl":
            return "jsonl"
    raise ConfigError(f"'{out}' is neither a .csv nor a .jsonl file; give a name that ends in one of them.")


def write_table(file: TextIO, form: TableFormat, facts: Iterable["Fact"]) -> None:
    if form == "jsonl":
        file.writelines(json.dumps(fact.to_dict(), ensure_ascii=False) + "\n" for fact in facts)
        return
    table = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
    table.writeheader()
    table.writerows(fact.to_dict() for fact in facts)
