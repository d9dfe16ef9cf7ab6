"""`densephrases generate join-passages`: join questions with their passages."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.generate.options import NO_PASSAGES, Passages, SquadOut
from densephrases.cli.generate.progress import progress_bar, question_counts
from densephrases.errors import ConfigError


def join_passages(
    file: Annotated[Path, typer.Argument(metavar="QUESTIONS", help="Questions file (see: strip-passages).")],
    out: SquadOut,
    passages: Passages = None,
) -> None:
    """Join questions with their passages, for training."""
    if not passages:
        raise ConfigError(NO_PASSAGES)
    from densephrases.data.generated import without_passages

    with progress_bar("passages") as advance:
        report = without_passages.join_passages(file, passages, out, advance)
    typer.echo(f"{question_counts(report.joined)} in {out}.")
    if report.missing.passages:
        names = ", ".join(path.name for path in passages)
        typer.echo(f"{question_counts(report.missing)} left out: not in {names}.")
