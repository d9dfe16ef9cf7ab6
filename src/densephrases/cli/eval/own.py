"""`densephrases eval own`: an index asked about its own documents."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from densephrases.cli.lines import counted
from densephrases.cli.options import AsJson, Effort, IndexArgument, IndexModel, Task, VerifyOption
from densephrases.errors import ConfigError
from densephrases.index.kinds import DEFAULT_EFFORT
from densephrases.search.request import SearchRequest

if TYPE_CHECKING:
    from densephrases.evaluate.own_documents import OwnReport

progress_console = Console(stderr=True, highlight=False)

QuestionsFile = Annotated[
    Path | None,
    typer.Option(
        "--questions",
        help="Your questions with their answers: CSV with the columns question and answer, or JSON lines. An empty "
        "answer means that the documents do not say [default: made from the documents by rule].",
    ),
]
Count = Annotated[int, typer.Option(help="Number of questions to make from the documents.")]
Seed = Annotated[int, typer.Option(help="Chooses other documents and sentences.")]


def own(
    folder: IndexArgument,
    questions: QuestionsFile = None,
    count: Count = 100,
    seed: Seed = 0,
    effort: Effort = DEFAULT_EFFORT,
    verify: VerifyOption = None,
    task: Task = None,
    model: IndexModel = None,
    as_json: AsJson = False,
) -> None:
    """What an index answers about your own documents: how often it is right, how sure, and how fast.

    Without --questions, questions are made from sentences of the documents by rule. They repeat words of these
    sentences and are easier than what people ask; a quarter as many ask about invented names, which no document has.
    """
    from densephrases.data.question_pairs import read_pairs
    from densephrases.evaluate.own_documents import AMONG, ask_own, own_questions, own_report
    from densephrases.search.phrase_index import PhraseIndex

    if count < 1:
        raise ConfigError(f"count={count} is no number of questions; expected at least 1.")
    request = SearchRequest(k=AMONG, unit="phrase", effort=effort, verify=verify)
    given = None if questions is None else read_pairs(questions)
    index = PhraseIndex.open(folder, model, task)
    several = own_questions(index, count, seed) if given is None else given
    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task("asking", total=len(several) + 1)
        asked = ask_own(index, several, request, lambda done: progress.advance(bar, done))
    report = own_report(asked, generated=given is None)
    if as_json:
        typer.echo(json.dumps(report.to_dict()))
    else:
        show_report(report)


def show_report(report: "OwnReport") -> None:
    from densephrases.cli.show.answers import one_line
    from densephrases.evaluate.own_documents import SURE

    source = "made from the documents by rule" if report.generated else "given"
    typer.echo(f"{counted(report.questions, 'question')} {source}, {report.absent} about what the documents do not say")
    typer.echo(f"first answer right    {_share(report.first)} (exactly {_share(report.exact)})")
    typer.echo(f"right among five      {_share(report.among_five)}")
    if report.bands:
        typer.echo(f"at least {SURE:.0%} sure     {_share(report.sure)}, of these right {_share(report.sure_right)}")
        typer.echo(f"absent, yet sure      {_share(report.absent_sure)}")
    typer.echo(
        f"time of a question    {report.median_milliseconds:.0f} ms, 95 of 100 within {report.slow_milliseconds:.0f} ms"
    )
    if report.bands:
        Console(highlight=False).print(_bands(report))
    for mistake in report.mistakes:
        expected = " or ".join(mistake.expected) or "nothing"
        told = f"{mistake.answer} ({mistake.confidence:.0%}, {mistake.document})"
        typer.echo(f"wrong but sure: {one_line(mistake.question)} {one_line(told)}; expected {one_line(expected)}")
    if report.generated:
        typer.echo(
            "Questions made by rule repeat words of the text: expect fewer right answers to questions of people. "
            "--questions FILE asks yours."
        )


def _share(percent: float | None) -> str:
    return "none" if percent is None else f"{percent:.0f}%"


def _bands(report: "OwnReport") -> Table:
    table = Table("confidence", "questions", "right")
    for band in report.bands:
        table.add_row(f"{band.least:.0%} to {band.below:.0%}", f"{band.questions}", _share(band.right))
    return table
