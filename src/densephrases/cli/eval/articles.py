"""`densephrases eval confidence` and `eval words`: what is measured by asking an index of a file's articles."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from densephrases.cli.extras import require
from densephrases.cli.options import AsJson, Model, SquadData

if TYPE_CHECKING:
    from densephrases.evaluate.open_domain import Advance
    from densephrases.evaluate.tune.confidence import ConfidenceReport
    from densephrases.index.progress import Progress as BuildProgress
    from densephrases.model.encoder import Encoder
    from densephrases.search.phrase_index import PhraseIndex
    from densephrases.text.documents import Document

ArticleIndex = Annotated[
    Path | None, typer.Option(help="Folder in which the index of the file's articles is kept [default: none].")
]
progress_console = Console(stderr=True)


def confidence(
    data: SquadData,
    unanswerable: Annotated[
        Path | None, typer.Option(help="SQuAD JSON with questions that nothing answers, about the same articles.")
    ] = None,
    absent: Annotated[
        float, typer.Option(help="Share of the questions that are asked again without their article.")
    ] = 0.25,
    model: Model = "small",
    index: ArticleIndex = None,
    write: Annotated[bool, typer.Option("--write", help="Store the fitted weights in the model folder.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw reliability and coverage to this PNG file.")] = None,
    as_json: AsJson = False,
) -> None:
    """How far confidences can be believed: fits them to an index of the file's articles and judges them on others."""
    if plot is not None:
        require("plot", "matplotlib")
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.confidence import articles_of, asked_without_article, judge, questions_about, report
    from densephrases.model.folders import resolve
    from densephrases.model.load import load

    passages = read_squad(data)
    asked = questions_about(passages, None if unanswerable is None else read_squad(unanswerable))
    asked += asked_without_article(asked, absent)
    articles = list(articles_of(passages))
    encoder = load(model)
    with _article_index(index, articles, encoder) as opened, _bar("asking", len(asked)) as advance:
        found = report(judge(opened, articles, asked, advance))
    if write:
        encoder.config.with_confidence(found.weights).save(resolve(model))
    if plot is not None:
        from densephrases.evaluate.charts import draw_confidence

        draw_confidence(found, plot)
    if as_json:
        typer.echo(json.dumps(asdict(found)))
    else:
        _print_confidence(found)


def words(
    data: SquadData,
    model: Model = "small",
    questions: Annotated[int, typer.Option(min=1, help="At most so many, from all over the file.")] = 2_000,
    index: ArticleIndex = None,
    write: Annotated[bool, typer.Option("--write", help="Store the chosen weight in the model folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """How much words count that question and passage share; chooses the least weight for at most 0.3 EM."""
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.confidence import articles_of
    from densephrases.evaluate.tune.lexical_weight import WEIGHTS, answered_questions, choose_weight, lexical_table
    from densephrases.model.folders import resolve
    from densephrases.model.load import load

    passages = read_squad(data)
    asked = answered_questions(passages, questions)
    encoder = load(model)
    with (
        _article_index(index, list(articles_of(passages)), encoder) as opened,
        _bar("asking", len(WEIGHTS) * len(asked)) as advance,
    ):
        rows = lexical_table(opened, asked, advance=advance)
    chosen = choose_weight(rows)
    if write:
        encoder.config.with_lexical_weight(chosen.weight).save(resolve(model))
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows], "chosen": asdict(chosen)}))
        return
    table = Table("weight", "EM", "F1", "right among ten", "", title=f"{len(asked):,} questions")
    for row in rows:
        values = (row.exact_match, row.f1, row.among_ten)
        table.add_row(f"{row.weight:.2f}", *(f"{value:.2f}" for value in values), "chosen" if row == chosen else "")
    Console().print(table)


@contextmanager
def _article_index(folder: Path | None, articles: list["Document"], encoder: "Encoder") -> Iterator["PhraseIndex"]:
    """The articles in a folder that is kept, or in one that is not."""
    with TemporaryDirectory() as temporary:
        yield _opened(folder or Path(temporary) / "index", articles, encoder)


def _opened(folder: Path, articles: list["Document"], encoder: "Encoder") -> "PhraseIndex":
    from densephrases.index.manifest import MANIFEST_FILE
    from densephrases.search.phrase_index import PhraseIndex

    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task("indexing", total=len(articles))

        def show(so_far: "BuildProgress") -> None:
            progress.update(bar, completed=so_far.documents + so_far.unchanged)

        if (folder / MANIFEST_FILE).is_file():
            opened = PhraseIndex.open(folder, encoder)
            opened.add(articles, show)
            return opened
        return PhraseIndex.create(folder, articles, model=encoder, progress=show)


@contextmanager
def _bar(name: str, total: int) -> Iterator["Advance"]:
    with Progress(console=progress_console, transient=True) as progress:
        bar = progress.add_task(name, total=total)
        yield lambda count: progress.advance(bar, count)


def _print_confidence(found: "ConfidenceReport") -> None:
    typer.echo(
        f"{found.questions:,} questions, {found.unanswerable:,} of them without an answer: EM {found.exact_match:.2f}; "
        f"calibration error {found.calibration_error:.2f}%, area under risk and coverage {found.risk_coverage_area:.3f}"
    )
    reliability = Table("confidence", "right", "questions", title="Reliability")
    for each in found.bins:
        reliability.add_row(f"{each.confidence:.3f}", f"{each.accuracy:.3f}", f"{each.count:,}")
    coverage = Table("answered", "if confidence is at least", "right", title="Answering only when confident")
    for point in found.coverage:
        coverage.add_row(f"{point.coverage:.2f}", f"{point.confidence:.3f}", f"{point.accuracy:.3f}")
    Console().print(reliability, coverage)
