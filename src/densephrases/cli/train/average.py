"""`densephrases train average`: average the weights of checkpoints."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.train.options import require_training


def average(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Model folders or names of bundled models.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="New folder for the averaged model.")],
) -> None:
    """Average the weights of checkpoints of one base model."""
    require_training()
    from densephrases.train.average import save_average

    save_average(models, out)
    typer.echo(f"Average of {len(models)} models saved in {out}; fit its thresholds with 'densephrases tune'.")
