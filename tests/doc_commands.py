"""Command lines of documents against the parsers of the program and of its scripts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from densephrases.cli.main import app

from .doc_pages import ROOT


def parse(place: str, words: list[str], *, whole: bool = True) -> None:
    """The command and its options exist. In a sentence (not `whole`) arguments may be missing; files always may."""
    command: Any = get_command(app)
    rest = list(words)
    while hasattr(command, "commands") and rest and not rest[0].startswith("--"):
        name = rest.pop(0)
        assert name in command.commands, f"{place}: there is no command '{name}'"
        command = command.commands[name]
    options = _own_options(command)
    for word in rest:
        if word.startswith("-") and not re.fullmatch(r"-\d.*", word):
            assert word.partition("=")[0] in options, f"{place}: there is no option {word}"
    if whole and not hasattr(command, "commands"):
        _parse_whole(place, command, rest)


def _parse_whole(place: str, command: Any, words: list[str]) -> None:
    try:
        command.make_context(command.name, words)
    except Exception as error:
        if "does not exist" not in str(error):
            raise AssertionError(f"{place}: {error}") from error


def all_options(command: Any = None) -> set[str]:
    """Of all commands."""
    command = command or get_command(app)
    return _own_options(command).union(*map(all_options, getattr(command, "commands", {}).values()))


def _own_options(command: Any) -> set[str]:
    declared = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return declared | {"--help"}


def parse_script(place: str, script: str, words: list[str]) -> None:
    """A script of the repository exists and knows the options, itself or in the files of its commands."""
    path = ROOT / script
    source = _source(path, *path.parent.glob("*/*.py"), *path.parent.glob(f"{path.stem}_*.py"))
    for word in words:
        assert not word.startswith("--") or _declares(source, word), f"{place}: {script} has no option {word}"


def in_some_script(option: str) -> bool:
    folders = (ROOT / name for name in ("benchmarks", "docs", "examples", "release"))
    return _declares(_source(*(path for folder in folders for path in folder.rglob("*.py"))), option)


def _source(*paths: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in paths)


def _declares(source: str, option: str) -> bool:
    """By argparse or by typer."""
    return f'"{option}"' in source or f"{option[2:].replace('-', '_')}: Annotated" in source


def every_command(command: Any = None, path: tuple[str, ...] = ("densephrases",)) -> Iterator[tuple[str, ...]]:
    """The words of all commands and groups, without options."""
    for name, each in getattr(command or get_command(app), "commands", {}).items():
        yield (*path, name)
        yield from every_command(each, (*path, name)) if hasattr(each, "commands") else ()
