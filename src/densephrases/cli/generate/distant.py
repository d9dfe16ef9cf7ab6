"""`densephrases generate distant`: find passages that answer questions which came without any."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.extras import quiet_bm25s, require
from densephrases.cli.generate.options import ExcludeQuestions, Passages, Resume, SquadOut
from densephrases.cli.generate.progress import progress_bars, show_leaks
from densephrases.cli.lines import counted
from densephrases.cli.options import AsJson


def distant(
    questions: Annotated[list[Path], typer.Argument(metavar="QUESTIONS", help="Question files with answers.")],
    out: SquadOut,
    passages: Passages = None,
    index: Annotated[Path | None, typer.Option(help="Index to search as well, by its model and by BM25.")] = None,
    exclude: ExcludeQuestions = None,
    candidates: Annotated[int, typer.Option(help="Passages that each search finds for a question.")] = 50,
    per_question: Annotated[int, typer.Option(help="Maximum number of passages with an answer per question.")] = 5,
    negatives: Annotated[int, typer.Option(help="Maximum number of passages without an answer per question.")] = 2,
    limit: Annotated[
        int | None, typer.Option(help="Use only the first questions, up to this number [default: all].")
    ] = None,
    resume: Resume = True,
    as_json: AsJson = False,
) -> None:
    """Find passages that answer questions without any (distant supervision)."""
    require("questions", "bm25s", "Stemmer")
    quiet_bm25s()
    from densephrases.train.augment.distant import DistantSupervision, find_passages

    settings = DistantSupervision(
        questions=tuple(questions),
        passages=tuple(passages or ()),
        index=index,
        exclude=tuple(exclude or ()),
        candidates=candidates,
        per_question=per_question,
        negatives=negatives,
        limit=limit,
    )
    with progress_bars("passages", "questions") as (collected, advance):
        report = find_passages(settings, out, resume, collected, advance)
    show_leaks(report.leaks, exclude)
    if as_json:
        typer.echo(json.dumps(asdict(report)))
        return
    typer.echo(
        f"{counted(report.triples, 'triple')} for {report.answered:,} of {counted(report.questions, 'question')} in "
        f"{out}: {counted(report.passages, 'passage')}, {report.negatives:,} of them as negatives. "
        f"{report.unanswered:,} without a passage that holds an answer, {report.leaks.questions:,} held out."
    )
