"""`densephrases eval open`: questions asked of a whole index."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from densephrases.cli.lines import counted, read_lines
from densephrases.cli.options import (
    AsJson,
    Effort,
    IndexArgument,
    IndexModel,
    KiltFile,
    LexicalWeight,
    Task,
    Truecase,
    VerifyOption,
)
from densephrases.data.questions import Format
from densephrases.search.request import SearchRequest, Unit

if TYPE_CHECKING:
    from densephrases.data.files import QuestionFile
    from densephrases.evaluate.open_domain import Advance, OpenScores
    from densephrases.search.phrase_index import PhraseIndex

progress_console = Console(stderr=True, highlight=False)


def open_domain(
    folder: IndexArgument,
    data: Annotated[Path, typer.Argument(help="Questions, plain or compressed; a folder in BEIR's format.")],
    form: Annotated[
        Format | None, typer.Option("--format", help="Format of the questions [default: recognised].")
    ] = None,
    regex: Annotated[
        bool | None, typer.Option(help="Gold answers are regular expressions [default: as the file says].")
    ] = None,
    candidates: Annotated[
        Path | None, typer.Option(help="File of phrases, one a line; other phrases are dropped.")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Results per question.")] = 100,
    unit: Annotated[Unit, typer.Option(help="What counts as one result.")] = "phrase",
    effort: Effort = 0.5,
    lexical_weight: LexicalWeight = None,
    truecase: Truecase = True,
    verify: VerifyOption = None,
    task: Task = None,
    model: IndexModel = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write each question's results to this JSON-lines file.")
    ] = None,
    trec_run: Annotated[Path | None, typer.Option(help="Write retrieved documents to this TREC run.")] = None,
    kilt: KiltFile = None,
    as_json: AsJson = False,
) -> None:
    """Exact match and F1 of questions asked of a whole index, and the share of questions it has an answer to."""
    from densephrases.data.files import read_questions
    from densephrases.evaluate.open_domain import OpenScores, ask_collection
    from densephrases.evaluate.predictions import open_predictions
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.normalize import normalize_answer

    file = read_questions(data, form, regex)
    allowed = None if candidates is None else frozenset(map(normalize_answer, read_lines(candidates)))
    request = SearchRequest(
        k=k, unit=unit, truecase=truecase, effort=effort, lexical_weight=lexical_weight, verify=verify
    )
    index = PhraseIndex.open(folder, model, task)
    judged = []
    with (
        open_predictions(out, trec_run, kilt, unit) as files,
        _two_bars(index.info().passages, len(file.questions)) as (read, asked),
    ):
        for prediction in ask_collection(index, file.questions, request, allowed, read, asked):
            files.write(prediction)
            judged.append(prediction.judgement)
    scores = OpenScores.from_judgements(judged, k)
    about = _about(index, file, request, task, restricted=allowed is not None)
    if as_json:
        typer.echo(json.dumps(scores.to_dict() | about))
    else:
        _print_scores(scores, about)


def _about(
    index: "PhraseIndex", file: "QuestionFile", request: SearchRequest, task: str | None, *, restricted: bool
) -> dict[str, Any]:
    """What the scores were computed with."""
    weight = request.lexical_weight
    return {
        "format": file.format,
        "matching": _matching(file, restricted=restricted),
        "unit": request.unit,
        "k": request.k,
        "task": task,
        "lexical_weight": index.encoder.config.lexical_weight if weight is None else weight,
        "verify": request.verify,
        "documents_in_index": len(index),
        "truecase": _truecasing(index, request.truecase),
        "notes": file.notes,
    }


def _matching(file: "QuestionFile", *, restricted: bool) -> str:
    matching = "regex" if any(question.regex for question in file.questions) else "normal"
    return f"{matching}, candidates" if restricted else matching


@contextmanager
def _two_bars(passages: int, questions: int) -> Iterator[tuple["Advance", "Advance"]]:
    with Progress(console=progress_console, transient=True) as progress:
        reading = progress.add_task("searching the text for gold answers", total=passages)
        asking = progress.add_task("asking", total=questions)
        yield lambda count: progress.advance(reading, count), lambda count: progress.advance(asking, count)


def _truecasing(index: "PhraseIndex", wanted: bool) -> str:
    if not index.searcher.truecases:
        return "no effect: the model ignores case"
    return "on, for questions without capitals" if wanted else "off"


def _print_scores(scores: "OpenScores", about: dict[str, Any]) -> None:
    for note in about["notes"]:
        typer.echo(note)
    typer.echo(
        f"{counted(scores.questions, 'question')} over {counted(about['documents_in_index'], 'document')}; "
        f"truecasing: {about['truecase']}"
    )
    if scores.exact_match is not None:
        typer.echo(
            f"EM {scores.exact_match:.2f} of {scores.ceiling:.2f} possible, F1 {scores.f1:.2f}: {scores.answerable:,} "
            f"questions have an answer in the text, EM of these {scores.exact_match_of_answerable or 0:.2f}"
        )
    table = Table("%, first k results", *scores.documents.hits_at, "MRR")
    if scores.passages is not None:
        table.add_row(f"EM (at most {scores.ceiling:.2f})", *_row(scores.exact_match_at), "")
        table.add_row("passage with answer", *_row(scores.passages.hits_at), f"{scores.passages.mrr:.2f}")
    table.add_row("document", *_row(scores.documents.hits_at), f"{scores.documents.mrr:.2f}")
    if scores.documents.recall_at is not None:
        table.add_row("recall of documents", *_row(scores.documents.recall_at), "")
    Console(highlight=False).print(table)
    if scores.documents.ndcg_at_10 is not None:
        typer.echo(f"nDCG@10 {scores.documents.ndcg_at_10:.2f}")


def _row(values: dict[str, float]) -> list[str]:
    return [f"{value:.2f}" for value in values.values()]
