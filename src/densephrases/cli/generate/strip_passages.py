"""`densephrases generate strip-passages`: write generated questions without their passages."""

from pathlib import Path
from typing import Annotated

import typer

from densephrases.cli.generate.options import GeneratedFile
from densephrases.cli.generate.progress import question_counts


def strip_passages(
    file: GeneratedFile,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Questions file to write (JSON lines); .gz or .xz compresses it.")
    ],
) -> None:
    """Write questions without their passages: a small file, to share with those who have the passages."""
    from densephrases.data.generated import without_passages

    typer.echo(f"{question_counts(without_passages.strip_passages(file, out))} in {out}.")
