"""Options of several training commands, and the packages that all of them need."""

from typing import Annotated

import typer

from densephrases.cli.extras import quiet_transformers, require

Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Override a setting, e.g. --set loop.epochs=2; repeatable.")
]
Resume = Annotated[bool, typer.Option(help="Continue from the checkpoint of an interrupted run.")]


def require_training() -> None:
    require("train", "torch", "transformers", "accelerate", "safetensors", "pydantic")
    quiet_transformers()
