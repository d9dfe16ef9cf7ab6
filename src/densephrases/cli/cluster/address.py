"""The option that names a Ray cluster."""

from typing import Annotated

import typer

Address = Annotated[
    str | None,
    typer.Option(help="Ray cluster as HOST:PORT, or 'auto' for that of this machine [default: Ray on this machine]."),
]
