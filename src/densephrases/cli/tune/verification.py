"""`densephrases tune verification`: weights of reader and search, and when to read."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.article_index import ArticleIndexOption, article_index, progress_bar
from densephrases.cli.eval.confidence import (
    AbsentOption,
    OffTopicOption,
    SwappedOption,
    UnanswerableOption,
    unanswerable_questions,
)
from densephrases.cli.extras import require
from densephrases.cli.options import AsJson, SquadData
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune

if TYPE_CHECKING:
    from densephrases.evaluate.tune.verification import VerificationReport


def verification(
    model: ModelArgument,
    data: SquadData,
    questions: Annotated[int, typer.Option(min=1, help="Ask at most this many, sampled evenly from the file.")] = 2_000,
    passages: Annotated[int, typer.Option(min=1, max=20, help="Passages to read for each question.")] = 3,
    unanswerable: UnanswerableOption = None,
    absent: AbsentOption = 0.25,
    swapped: SwappedOption = 0.1,
    off_topic: OffTopicOption = None,
    index: ArticleIndexOption = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Fit how reader and search are weighed when answers are verified, and below which confidence to read.

    The questions are asked of an index of all articles of the file, and the passages of the first results are read.
    Of all points that read at most 0.7 passages a question it picks the cheapest within 0.3 EM of the best. Fit
    confidences first: `tune confidence`.
    """
    require("evaluate", "sklearn")
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.confidence import articles_of, questions_about
    from densephrases.evaluate.tune.quantizer import spread_out
    from densephrases.evaluate.tune.verification import read_questions, verification_report
    from densephrases.model.load import load

    folder = folder_to_tune(model, dry_run)
    squad = read_squad(data)
    asked = list(
        spread_out(questions_about(squad, None if unanswerable is None else read_squad(unanswerable)), questions)
    )
    asked += unanswerable_questions(asked, absent, swapped, off_topic)
    articles, encoder = list(articles_of(squad)), load(folder)
    with article_index(index, articles, encoder) as opened, progress_bar("asking and reading", len(asked)) as advance:
        found = verification_report(read_questions(opened, articles, asked, passages, advance), passages)
    if not dry_run:
        encoder.config.with_verification(found.weights).save(folder)
    if as_json:
        typer.echo(json.dumps(asdict(found)))
    else:
        _print_report(found)


def _print_report(found: "VerificationReport") -> None:
    weights = found.weights
    typer.echo(
        f"{found.questions:,} questions, {found.unanswerable:,} of them without an answer; EM of the others "
        f"{found.unverified:.2f}, verified in 1 passage {found.verified_by_one:.2f}, in {found.passages} "
        f"{found.verified:.2f}; calibration error of verified answers {found.calibration_error:.2f}%"
    )
    typer.echo(f"weights: reader {weights['reader']:.3f}, confidence of search {weights['unverified']:.3f}")
    columns = (
        "read if confidence is below",
        "others if below",
        "questions read for %",
        "passages a question",
        "EM",
        "",
    )
    table = Table(*columns, title="verify='auto'")
    for row in found.rows:
        mark = "chosen" if row == found.chosen else ""
        points = (f"{row.below:.3f}", f"{row.further_below:.2f}")
        table.add_row(*points, f"{row.share:.0f}", f"{row.passages:.2f}", f"{row.exact_match:.2f}", mark)
    Console().print(table)
