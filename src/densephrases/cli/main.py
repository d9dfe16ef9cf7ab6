"""Entry point of the command line: subcommands, errors, logging."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from densephrases.cli.flags import with_flag
from densephrases.errors import ConfigError, DensePhrasesError
from densephrases.version import __version__

COMMANDS = (
    *("index", "ask", "extract", "list", "add", "update", "sync", "watch", "delete", "optimize", "info", "check"),
    *("serve", "mcp", "demo", "cluster"),
    *("data", "train", "generate", "tune", "eval", "reproduce", "export", "import-original"),
)
_GROUPS = ("cluster", "data", "train", "generate", "tune", "eval")
_FUNCTIONS = {"list": "list_documents"}
_RAISED_BY_PYDANTIC = "Value error, "  # begins what is wrong with a value of an option, by which typer reads it


def _imported(name: str) -> Callable[..., None] | typer.Typer:
    if name in _GROUPS:
        return _group(name)
    module: ModuleType
    match name:
        case "ask":
            from densephrases.cli import ask as module
        case "extract":
            from densephrases.cli import extract as module
        case "serve":
            from densephrases.cli.serving import serve as module
        case "mcp":
            from densephrases.cli.serving import mcp as module
        case "demo":
            from densephrases.cli import demo as module
        case "reproduce":
            from densephrases.cli import reproduce as module
        case "export" | "import-original":
            from densephrases.cli import export as module
        case _:
            from densephrases.cli import indexes as module
    command: Callable[..., None] = getattr(module, _FUNCTIONS.get(name, name.replace("-", "_")))
    return command


def _group(name: str) -> typer.Typer:
    module: ModuleType
    match name:
        case "cluster":
            from densephrases.cli import cluster as module
        case "data":
            from densephrases.cli import data as module
        case "train":
            from densephrases.cli import train as module
        case "generate":
            from densephrases.cli import generate as module
        case "tune":
            from densephrases.cli import tune as module
        case _:
            from densephrases.cli import eval as module
    group: typer.Typer = module.app
    return group


@cache
def _built(name: str) -> Any:
    command = _imported(name)
    if not isinstance(command, typer.Typer):
        alone = typer.Typer(rich_markup_mode=None, add_completion=False)
        alone.command(name)(command)
        command = alone
    built: Any = get_command(command)
    built.name = name
    for each in (built, *getattr(built, "commands", {}).values()):
        each.short_help = _first_paragraph(each.help)  # else click cuts it to the width of the terminal
    return built


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").strip().partition("\n\n")[0].split())


class _BuiltWhenCalled(Mapping[str, Any]):
    """Parsers of commands, built on demand: building all takes half a second, and a call needs one."""

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        return _built(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _BuiltWhenCalled()  # type: ignore[assignment]

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except ConfigError as error:
            raise ConfigError(with_flag(str(error), _flags(ctx.invoked_subcommand))) from error
        except typer.BadParameter as error:
            error.message = error.message.removeprefix(_RAISED_BY_PYDANTIC)
            raise


def _flags(name: str | None) -> dict[str, str]:
    """The options of a command, or of all commands of a group, by the names that the library gives to their values."""
    command = None if name is None or name not in COMMANDS else _built(name)
    commands = [command, *getattr(command, "commands", {}).values()]
    options = [param for each in commands for param in getattr(each, "params", ()) if param.opts[0].startswith("-")]
    return {param.name: max(param.opts, key=len) for param in options}


app = typer.Typer(
    cls=_Group,
    name="densephrases",
    help="Answers questions from any body of text with the exact phrase and its source.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},  # subcommands inherit it
    rich_markup_mode=None,  # brackets in help texts are literal
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if show_version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command; a user's mistake becomes one sentence on stderr and exit code 2."""
    if sys.argv[1:] == ["--version"]:  # needs no parser
        typer.echo(__version__)
        return
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[_Log()])
    try:
        app()
    except DensePhrasesError as error:
        _refuse(str(error))
    except OSError as error:  # a full disk, a folder without write permission, a file removed meanwhile
        if error.filename is None:
            raise
        _refuse(f"'{error.filename}' cannot be used: {error.strerror or type(error).__name__}.")
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        sys.exit(130)


class _Log(logging.Handler):
    """Rich's handler, imported with the first record: most calls log nothing."""

    def emit(self, record: logging.LogRecord) -> None:
        from rich.console import Console
        from rich.logging import RichHandler

        RichHandler(console=Console(stderr=True), show_path=False).emit(record)


def _refuse(sentence: str) -> NoReturn:
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True).print(f"[bold red]Error:[/] {escape(sentence)}", highlight=False, soft_wrap=True)
    sys.exit(2)
