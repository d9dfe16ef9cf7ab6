"""`densephrases eval slots`: facts asked of a whole index."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from densephrases.cli.eval.open_domain import progress_console
from densephrases.cli.lines import counted
from densephrases.cli.options import (
    AsJson,
    Effort,
    IndexArgument,
    IndexModel,
    KiltFile,
    LexicalWeight,
    PreferTitles,
    Task,
    VerifyOption,
)
from densephrases.data.kilt import DocumentKey
from densephrases.errors import DataError

if TYPE_CHECKING:
    from densephrases.evaluate.slot_filling import SlotScores

_LABELS = {
    "accuracy": "accuracy (verbatim)",
    "exact_match": "exact match (normalised)",
    "f1": "F1",
    "r_precision": "R-precision",
    "recall_at_5": "recall@5",
    "kilt_accuracy": "KILT-AC",
    "kilt_exact_match": "KILT-EM",
    "kilt_f1": "KILT-F1",
}


def slots(
    folder: IndexArgument,
    data: Annotated[Path, typer.Argument(help="Facts in KILT's format, plain or compressed.")],
    task: Task = None,
    documents_by: Annotated[
        DocumentKey, typer.Option(help="What identifies a document both in the file and in the index.")
    ] = "id",
    prefer_titles: PreferTitles = False,
    effort: Effort = 0.5,
    lexical_weight: LexicalWeight = None,
    verify: VerifyOption = None,
    model: IndexModel = None,
    kilt: KiltFile = None,
    as_json: AsJson = False,
) -> None:
    """Accuracy, F1 and evidence of facts ('subject [SEP] relation'), as KILT's evaluation computes them.

    Scores are given for the facts whose document is in the index, and for all facts of the file.
    """
    from densephrases.data.kilt import read_kilt
    from densephrases.evaluate.predictions import write_kilt
    from densephrases.evaluate.slot_filling import fill_slots, provable, slot_scores
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.search.request import SearchRequest
    from densephrases.text.readers.files import refuse_missing_folder

    request = SearchRequest(effort=effort, lexical_weight=lexical_weight, verify=verify)
    records = read_kilt(data)
    to_judge = any(record.answers for record in records)
    if not to_judge and kilt is None:
        raise DataError(f"'{data}' has no answers to compare with; give --kilt FILE to write predictions.")
    refuse_missing_folder(kilt)
    index = PhraseIndex.open(folder, model, task)
    counting = provable(index, records, documents_by) if to_judge else []
    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task("asking", total=len(records))
        filled = list(
            fill_slots(
                index,
                records,
                request,
                prefer_titles=prefer_titles,
                advance=lambda count: progress.advance(bar, count),
            )
        )
    if kilt is not None:
        write_kilt(kilt, ((slot.record.id, slot.record.input, slot.text, slot.documents) for slot in filled))
    if not to_judge:
        typer.echo(f"No answers to compare with: {counted(len(filled), 'prediction')} written to {kilt}", err=True)
        return
    scores = slot_scores(filled, counting, documents_by)
    about = {"task": task, "documents_in_index": len(index), "prefer_titles": prefer_titles}
    if as_json:
        typer.echo(json.dumps(scores.to_dict() | about))
    else:
        _print_scores(scores, about)


def _print_scores(scores: "SlotScores", about: dict[str, Any]) -> None:
    typer.echo(
        f"{counted(scores.facts, 'fact')} of {scores.facts_in_file:,} have their document among the index's "
        f"{counted(about['documents_in_index'], 'document')}"
    )
    table = Table("", f"of these {scores.facts:,}", f"of all {scores.facts_in_file:,}")
    for name, label in _LABELS.items():
        table.add_row(label, *(f"{getattr(each, name):.2f}" for each in (scores.in_index, scores.all_facts)))
    Console(highlight=False).print(table)
