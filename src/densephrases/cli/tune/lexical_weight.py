"""`densephrases tune lexical`: the weight of lexical overlap."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.article_index import ArticleIndexOption, article_index, progress_bar
from densephrases.cli.options import AsJson, SquadData
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune


def lexical(
    model: ModelArgument,
    data: SquadData,
    questions: Annotated[int, typer.Option(min=1, help="Ask at most this many, sampled evenly from the file.")] = 2_000,
    index: ArticleIndexOption = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Pick the smallest weight of lexical overlap within 0.3 EM of the best.

    The questions are asked of an index of all articles of the file. Fit confidences again afterwards, because
    scores change: `tune confidence`.
    """
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.confidence import articles_of
    from densephrases.evaluate.tune.lexical_weight import WEIGHTS, answered_questions, choose_weight, lexical_table
    from densephrases.model.load import load

    folder = folder_to_tune(model, dry_run)
    passages = read_squad(data)
    asked = answered_questions(passages, questions)
    encoder = load(folder)
    with (
        article_index(index, list(articles_of(passages)), encoder) as opened,
        progress_bar("asking", len(WEIGHTS) * len(asked)) as advance,
    ):
        rows = lexical_table(opened, asked, advance=advance)
    chosen = choose_weight(rows)
    if not dry_run:
        encoder.config.with_lexical_weight(chosen.weight).save(folder)
    if as_json:
        typer.echo(json.dumps({"rows": [asdict(row) for row in rows], "chosen": asdict(chosen)}))
        return
    table = Table("weight", "EM", "F1", "EM among ten", "", title=f"{len(asked):,} questions")
    for row in rows:
        values = (row.exact_match, row.f1, row.among_ten)
        table.add_row(f"{row.weight:.2f}", *(f"{value:.2f}" for value in values), "chosen" if row == chosen else "")
    Console().print(table)
