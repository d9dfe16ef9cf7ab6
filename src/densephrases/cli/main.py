"""The command's entry: its subcommands, its errors, its logging."""

import logging
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.logging import RichHandler
from rich.markup import escape

from densephrases.cli import ask, demo, evaluate, export, extract, generate, index, mcp, serve, train
from densephrases.errors import DensePhrasesError

app = typer.Typer(
    name="densephrases",
    help="Answers questions from any body of text with the exact phrase and its source.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in help texts are meant as they stand
)
app.command("index")(index.index)
app.command("ask")(ask.ask)
app.command("extract")(extract.extract)
app.command("add")(index.add)
app.command("update")(index.update)
app.command("delete")(index.delete)
app.command("optimize")(index.optimize)
app.command("info")(index.info)
app.command("check")(index.check)
app.command("serve")(serve.serve)
app.command("mcp")(mcp.mcp)
app.command("demo")(demo.demo)
app.add_typer(train.app, name="train")
app.add_typer(generate.app, name="generate")
app.add_typer(evaluate.app, name="eval")
app.command("export")(export.export)
app.command("import-original")(export.import_original)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if show_version:
        typer.echo(version("densephrases"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Runs the command; a user's mistake becomes one sentence on stderr and exit code 2."""
    console = Console(stderr=True)
    logging.basicConfig(
        level=logging.WARNING, format="%(message)s", handlers=[RichHandler(console=console, show_path=False)]
    )
    try:
        app()
    except DensePhrasesError as error:
        _refuse(console, str(error))
    except OSError as error:  # a full disk, a folder that may not be written, a file taken away meanwhile
        if error.filename is None:
            raise
        _refuse(console, f"'{error.filename}' cannot be used: {error.strerror or type(error).__name__}.")
    except KeyboardInterrupt:
        console.print("Stopped.")
        sys.exit(130)


def _refuse(console: Console, sentence: str) -> NoReturn:
    console.print(f"[bold red]Error:[/] {escape(sentence)}", highlight=False, soft_wrap=True)
    sys.exit(2)
