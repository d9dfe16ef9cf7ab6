"""What is read, as options that several commands share."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from densephrases.cli.indexes.sources import with_source_options
from densephrases.index.sync.options import SyncOptions
from tests.cli.conftest import Command


@pytest.mark.parametrize("command", ["index", "add", "update", "sync", "watch"])
def test_commands_that_read_files_have_the_same_options(densephrases: Command, command: str) -> None:
    shown = densephrases(command, "--help").out
    for option in ("--root", "--include", "--exclude", "--all-files", "--max-document", "--follow-links"):
        assert option in shown
    assert "--options" not in shown


def test_they_reach_the_command_as_one_value() -> None:
    received: list[tuple[str, SyncOptions]] = []

    @with_source_options
    def command(name: str, *, options: SyncOptions) -> None:
        received.append((name, options))

    app = typer.Typer()
    app.command()(command)
    written = ["x", "--root", "a=b", "--exclude", "*.tmp", "--max-document", "1K", "--follow-links"]
    result = CliRunner().invoke(app, written)
    expected = SyncOptions(named={"a": Path("b")}, exclude=("*.tmp",), max_document=1000, follow_links=True)
    assert (result.exit_code, received) == (0, [("x", expected)]), result.output
