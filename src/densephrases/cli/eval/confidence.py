"""`densephrases eval confidence`: how well confidences predict which answers are right."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.article_index import ArticleIndexOption, article_index, progress_bar
from densephrases.cli.extras import require
from densephrases.cli.options import AsJson, Model, SquadData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from densephrases.evaluate.tune.confidence import AskedQuestion, ConfidenceReport
    from densephrases.model.encoder import Encoder

UnanswerableOption = Annotated[
    Path | None, typer.Option(help="SQuAD JSON with unanswerable questions about the same articles.")
]
AbsentOption = Annotated[
    float, typer.Option(help="Share of the questions that are asked a second time without their article.")
]
SwappedOption = Annotated[
    float, typer.Option(help="Share of the questions that are asked a second time with a name exchanged.")
]
OffTopicOption = Annotated[
    Path | None,
    typer.Option(
        help="File of questions about other things, in any format of questions; at most as many are asked as without "
        "their article."
    ),
]
PlotOption = Annotated[Path | None, typer.Option(help="Draw reliability and coverage to this PNG file.")]


def confidence(
    data: SquadData,
    unanswerable: UnanswerableOption = None,
    absent: AbsentOption = 0.25,
    swapped: SwappedOption = 0.1,
    off_topic: OffTopicOption = None,
    model: Model = "small",
    index: ArticleIndexOption = None,
    plot: PlotOption = None,
    as_json: AsJson = False,
) -> None:
    """Calibration error and coverage of confidences, cross-fitted over the articles of a SQuAD file.

    The questions are asked of an index of all articles. Each answer's confidence comes from weights that were fitted
    to questions about other articles. `tune confidence` stores weights in a model.
    """
    refuse_missing_packages(plot)
    from densephrases.model.load import load

    found = measure_confidence(load(model), data, unanswerable, absent, swapped, off_topic, index)
    show_confidence(found, plot, as_json)


def refuse_missing_packages(plot: Path | None) -> None:
    require("evaluate", "sklearn")
    if plot is not None:
        require("plot", "matplotlib")


def measure_confidence(
    encoder: "Encoder",
    data: Path,
    unanswerable: Path | None,
    absent: float,
    swapped: float,
    off_topic: Path | None,
    index: Path | None,
) -> "ConfidenceReport":
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.confidence import articles_of, judge, questions_about, report

    passages = read_squad(data)
    asked = questions_about(passages, None if unanswerable is None else read_squad(unanswerable))
    asked += unanswerable_questions(asked, absent, swapped, off_topic)
    articles = list(articles_of(passages))
    with article_index(index, articles, encoder) as opened, progress_bar("asking", len(asked)) as advance:
        return report(judge(opened, articles, asked, advance))


def unanswerable_questions(
    asked: "Sequence[AskedQuestion]", absent: float, swapped: float, off_topic: Path | None
) -> "list[AskedQuestion]":
    """What is asked beside a file's questions, that its articles do not answer or only by chance."""
    from densephrases.data.files import read_questions
    from densephrases.evaluate.tune.confidence import asked_off_topic, asked_with_swapped_names, asked_without_article

    without_article = asked_without_article(asked, absent)
    further = [*without_article, *asked_with_swapped_names(asked, swapped)]
    if off_topic is not None:
        further += asked_off_topic(read_questions(off_topic).questions, len(without_article))
    return further


def show_confidence(found: "ConfidenceReport", plot: Path | None, as_json: bool) -> None:
    if plot is not None:
        from densephrases.evaluate.charts import draw_confidence

        draw_confidence(found, plot)
    if as_json:
        typer.echo(json.dumps(asdict(found)))
        return
    typer.echo(
        f"{found.questions:,} questions, {found.unanswerable:,} of them without an answer: EM {found.exact_match:.2f}; "
        f"calibration error {found.calibration_error:.2f}%, area under the risk-coverage curve "
        f"{found.risk_coverage_area:.3f}"
    )
    reliability = Table("confidence", "right", "questions", title="Reliability")
    for each in found.bins:
        reliability.add_row(f"{each.confidence:.3f}", f"{each.accuracy:.3f}", f"{each.count:,}")
    coverage = Table("answered", "if confidence is at least", "right", title="Answering only when confident")
    for point in found.coverage:
        coverage.add_row(f"{point.coverage:.2f}", f"{point.confidence:.3f}", f"{point.accuracy:.3f}")
    kinds = Table("questions", "number", "right %", "mean confidence %", "above 20%", "above 50%", title="By kind")
    for of in found.kinds:
        shares = (of.right, of.confidence, of.above_20, of.above_50)
        kinds.add_row(of.kind, f"{of.questions:,}", *(f"{share:.1f}" for share in shares))
    Console().print(reliability, coverage, kinds)
