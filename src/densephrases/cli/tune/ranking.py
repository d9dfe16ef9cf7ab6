"""`densephrases tune ranking`: the weights of the final ranking."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.article_index import article_index, progress_bar
from densephrases.cli.options import AsJson
from densephrases.cli.tune.model_folder import DryRun, ModelArgument, folder_to_tune
from densephrases.errors import ConfigError

if TYPE_CHECKING:
    from densephrases.evaluate.tune.ranking import FirstPhrases, RankedQuestion, RankingReport
    from densephrases.model.encoder import Encoder
    from densephrases.search.phrase_index import PhraseIndex


def ranking(
    model: ModelArgument,
    data: Annotated[list[Path], typer.Argument(metavar="DATA...", help="SQuAD JSON of articles that no training saw.")],
    questions: Annotated[
        int, typer.Option(min=1, help="Ask at most this many of each file, sampled evenly from it.")
    ] = 10_000,
    folds: Annotated[int, typer.Option(min=2, help="Parts of whole articles for cross-validation.")] = 5,
    index: Annotated[
        Path | None,
        typer.Option(help="Folder to keep the index of each file's articles in [default: not kept]."),
    ] = None,
    open_questions: Annotated[
        Path | None, typer.Option("--open", help="Questions without passages, asked of --open-index.")
    ] = None,
    open_index: Annotated[Path | None, typer.Option(help="Index that the questions of --open are asked of.")] = None,
    l2: Annotated[
        float | None,
        typer.Option(min=0, help="Regularisation [default: the strongest within a standard error of the least loss]."),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Fit the final ranking of each question's first 20 phrases, cross-validated by articles.

    The questions of a SQuAD file are asked of an index of all its articles. Fit confidences again afterwards, because
    scores change: `tune confidence`.
    """
    from densephrases.evaluate.tune.ranking import ranking_report
    from densephrases.model.load import load

    if (open_questions is None) != (open_index is None):
        raise ConfigError("--open and --open-index belong together; give both, or neither.")
    folder = folder_to_tune(model, dry_run)
    encoder = load(folder)
    found = {path.name: _from_squad(path, encoder, questions, index) for path in data}
    if open_questions is not None and open_index is not None:
        found[open_questions.name] = _from_open(open_questions, open_index, encoder, questions)
    report = ranking_report(found, folds, l2)
    if not dry_run:
        encoder.config.with_ranking(report.weights).save(folder)
    if as_json:
        typer.echo(json.dumps(asdict(report)))
    else:
        _show(report, dry_run=dry_run)


def _from_squad(path: Path, encoder: "Encoder", limit: int, kept: Path | None) -> "FirstPhrases":
    from densephrases.data.squad import read_squad
    from densephrases.evaluate.tune.confidence import articles_of
    from densephrases.evaluate.tune.ranking import squad_questions

    passages = read_squad(path)
    asked = squad_questions(passages, limit)
    with article_index(kept and kept / path.name, list(articles_of(passages)), encoder) as opened:
        return _asked(opened, asked)


def _from_open(path: Path, index: Path, encoder: "Encoder", limit: int) -> "FirstPhrases":
    from densephrases.data.files import read_questions
    from densephrases.evaluate.tune.ranking import open_questions
    from densephrases.search.phrase_index import PhraseIndex

    asked = open_questions(read_questions(path).questions, limit, encoder.config.max_words)
    return _asked(PhraseIndex.open(index, encoder), asked)


def _asked(index: "PhraseIndex", asked: "list[RankedQuestion]") -> "FirstPhrases":
    from densephrases.evaluate.tune.ranking import first_phrases

    with progress_bar("asking", len(asked)) as advance:
        return first_phrases(index, asked, advance)


def _show(report: "RankingReport", *, dry_run: bool) -> None:
    console = Console(highlight=False)
    parts = Table("articles", "questions", "EM before", "EM after", title="Fitted to other articles")
    for row in [*report.folds, *(report.files if len(report.files) > 1 else [])]:
        parts.add_row(row.part, f"{row.questions:,}", f"{row.before:.2f}", f"{row.after:.2f}")
    parts.add_row("all", f"{report.questions:,}", f"{report.before:.2f}", f"{report.after:.2f}")
    console.print(parts)
    console.print(
        f"{report.gained:,} questions gained, {report.lost:,} lost; {report.among:.2f}% have a right answer among the "
        f"ranked. Mean loss {report.loss_before:.4f} before, {report.loss:.4f} after; L2 {report.l2:g}."
    )
    groups = Table("without", "EM", "mean loss")
    for group in report.groups:
        groups.add_row(group.without, f"{group.exact_match:.2f}", f"{group.loss:.4f}")
    console.print(groups)
    weights = Table("feature", "weight")
    for name, weight in report.weights.items():
        weights.add_row(name, f"{weight:.4g}")
    console.print(weights)
    if not dry_run:
        console.print("Scores have changed: fit confidences again with `densephrases tune confidence`.")
