"""`densephrases tune confidence INDEX`: confidences fitted to a user's own questions, stored with the index."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

from densephrases.cli.article_index import progress_bar
from densephrases.cli.lines import counted

if TYPE_CHECKING:
    from densephrases.evaluate.tune.own_confidence import OwnConfidence


def tune_index(
    folder: Path, questions: Path, absent: float, model: str | None, task: str | None, dry_run: bool, as_json: bool
) -> None:
    """Fit, store what is better than the model's confidences, and report."""
    from densephrases.data.question_pairs import read_pairs
    from densephrases.evaluate.tune.own_confidence import fit_own_confidence, fitted_confidence
    from densephrases.index.fitted_confidence import store_confidence
    from densephrases.search.phrase_index import PhraseIndex

    pairs = read_pairs(questions)
    index = PhraseIndex.open(folder, model, task)
    with progress_bar("asking", round(len(pairs) * (1 + absent))) as advance:
        found = fit_own_confidence(index, pairs, absent, advance)
    stored = found.is_better and not dry_run
    if stored:
        store_confidence(folder, task or "", fitted_confidence(index, found))
    if as_json:
        typer.echo(json.dumps(found.to_dict() | {"stored": stored}))
        return
    _show(found)
    typer.echo(_outcome(found, folder, stored=stored))


def reset_index(folder: Path) -> None:
    from densephrases.index.fitted_confidence import remove_confidences
    from densephrases.index.manifest import Manifest

    Manifest.load(folder)
    if remove_confidences(folder):
        typer.echo(f"Confidences of '{folder}' are the model's again.")
    else:
        typer.echo(f"Nothing to remove: confidences of '{folder}' are the model's.")


def _show(found: "OwnConfidence") -> None:
    typer.echo(
        f"{counted(found.questions, 'question')}, {found.asked_again} asked again without the documents that answer "
        f"them; {found.right:.0f}% of the first answers are right"
    )
    table = Table("confidences", "calibration error", "log loss")
    for name, each in {"of the model": found.before, "fitted (cross-validated)": found.after}.items():
        table.add_row(name, f"{each.calibration_error:.1f}%", f"{each.log_loss:.3f}")
    Console(highlight=False).print(table)


def _outcome(found: "OwnConfidence", folder: Path, *, stored: bool) -> str:
    if not found.is_better:
        return "Fitted confidences would be no better than the model's on other questions: nothing is changed."
    return f"Stored in '{folder}'." if stored else "Nothing is changed (--dry-run)."
