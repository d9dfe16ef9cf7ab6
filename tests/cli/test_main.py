"""The command itself: light, helpful, and one sentence for every mistake."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from densephrases.cli import extras, main
from densephrases.errors import DensePhrasesError

from .conftest import Command, Result

HEAVY = (
    "torch",
    "transformers",
    "accelerate",
    "onnx",
    "onnxruntime",
    "safetensors",
    "numpy",
    "faiss",
    "fastapi",
    "uvicorn",
)


def is_one_sentence(result: Result) -> bool:
    """Exit code 2, nothing on stdout, and one line on stderr that is no traceback."""
    lines = result.err.strip().splitlines()
    return result.code == 2 and result.out == "" and len(lines) == 1 and lines[0].startswith("Error: ")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['densephrases', '--help']\n"
        "from densephrases.cli.main import main\n"
        "try: main()\n"
        f"except SystemExit: print('loaded:', *(n for n in {HEAVY!r} if n in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert "train" in done.stdout
    assert done.stdout.strip().splitlines()[-1] == "loaded:"


def test_the_installed_command_and_the_module_are_the_same() -> None:
    command = [sys.executable, "-m", "densephrases", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == metadata.version("densephrases")
    (script,) = metadata.entry_points(group="console_scripts", name="densephrases")
    assert script.value == "densephrases.cli.main:main"


def test_version(densephrases: Command) -> None:
    assert densephrases("--version") == Result(0, metadata.version("densephrases") + "\n", "")


def commands(group: typer.Typer) -> dict[str, list[str]]:
    """Every command with its subcommands."""
    click = get_command(group)
    return {name: sorted(getattr(command, "commands", {})) for name, command in click.commands.items()}  # type: ignore[attr-defined]


def test_the_version_needs_no_parser() -> None:
    code = (
        "import sys; sys.argv = ['densephrases', '--version']\n"
        "from densephrases.cli.main import main\n"
        "main(); print('loaded:', *(n for n in ('rich.console', 'pydantic', 'numpy') if n in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.split() == [metadata.version("densephrases"), "loaded:"]


def test_the_commands() -> None:
    """Whoever renames a command breaks somebody's script: do it on purpose."""
    found = commands(main.app)
    assert found["train"] == ["average", "phrases", "queries", "questions", "reader"]
    assert found["generate"] == ["answers", "distant", "filter", "join-passages", "questions", "strip-passages"]
    assert found["tune"] == ["confidence", "filter", "length", "lexical", "quantizer", "ranking", "verification"]
    assert found["cluster"] == ["build", "serve", "stop"]
    assert found["data"] == ["get", "list"]
    assert found["eval"] == ["confidence", "open", "own", "reader", "reading", "slots"]
    assert found.keys() == {
        *("index", "ask", "extract", "list", "add", "update", "sync", "watch", "delete", "optimize", "info", "check"),
        *("serve", "mcp", "demo", "cluster"),
        *("data", "train", "generate", "tune", "eval", "reproduce", "export", "import-original"),
    }


@pytest.mark.parametrize(
    "arguments", [["train"], ["eval"], ["tune"], ["train", "phrases", "--help"], ["ask", "--help"]]
)
def test_help_of_commands(densephrases: Command, arguments: list[str]) -> None:
    result = densephrases(*arguments)
    assert f"densephrases {' '.join(arguments).removesuffix(' --help')} [OPTIONS]" in result.out + result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("arguments", [[], ["eval"], ["generate"]])
def test_lists_of_commands_cut_no_sentence(densephrases: Command, arguments: list[str]) -> None:
    result = densephrases(*arguments, "-h")
    assert result.code == 0
    listed = result.out.partition("Commands:\n")[2]
    assert listed
    assert "..." not in listed
    assert "…" not in listed


@pytest.mark.parametrize("arguments", [["ask"], ["eval", "open"], []])
def test_short_help(densephrases: Command, arguments: list[str]) -> None:
    assert densephrases(*arguments, "-h") == densephrases(*arguments, "--help")


def test_unknown_option(densephrases: Command) -> None:
    result = densephrases("eval", "reading", "--tempo", "x")
    assert result.code == 2
    assert "--tempo" in result.err


def raising(error: BaseException) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def fail() -> None:
        raise error

    return app


@pytest.mark.parametrize(
    "message",
    ["needs torch; install with: pip install 'densephrases[train]'", "expected one of ['fp32', 'int8']", "odd [/path]"],
)
def test_errors_are_shown_as_they_are(densephrases: Command, monkeypatch: pytest.MonkeyPatch, message: str) -> None:
    monkeypatch.setattr(main, "app", raising(DensePhrasesError(message)))
    result = densephrases()
    assert is_one_sentence(result)
    assert result.err == f"Error: {message}\n"


def test_bugs_are_not_hidden(densephrases: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "app", raising(ZeroDivisionError("a bug")))
    with pytest.raises(ZeroDivisionError):
        densephrases()


def test_missing_extra(densephrases: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    result = densephrases("export", tmp_path)
    assert is_one_sentence(result)
    assert "pip install 'densephrases[train]'" in result.err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["eval", "reading", "no.json"], "'no.json' does not exist"),
        (["eval", "reading", "{text}"], "cannot be read as JSON"),
        (["eval", "reading", "{list}"], "is not SQuAD JSON"),
        (["eval", "reading", "{squad}", "--model", "no/model"], "'no/model' does not exist"),
        (["eval", "reading", "{squad}", "--model", "nothing"], "neither a bundled model"),
        (["eval", "reading", "{squad}", "--model", "no/model", "--runtime", "torch"], "'no/model' does not exist"),
        (["eval", "reader", "{squad}", "--model", "no/model"], "'no/model' does not exist"),
        (["tune", "filter", "no/model", "{squad}"], "'no/model' does not exist"),
        (["tune", "filter", "small", "{squad}"], "bundled model"),
        (["tune", "filter", "small", "no.json", "--dry-run"], "'no.json' does not exist"),
        (["export", "no/model"], "'no/model' does not exist"),
        (["import-original", "no/model", "out"], "no/model"),
        (["train", "phrases", "no.py"], "'no.py' does not exist"),
        (["train", "phrases", "{text}"], "is not a Python file"),
        (["train", "reader", "{recipe}", "--set", "loop.epoch=2"], "'epoch' is not one of"),
        (["train", "reader", "{recipe}", "--set", "loop.epochs=two"], "loop.epochs=two does not fit"),
        (["train", "reader", "{recipe}", "--set", "loop.epochs"], "not of the form name=value"),
        (["train", "questions", "{recipe}"], "has no function 'questions(data, models)'"),
        (["generate", "answers", "--out", "x.jsonl"], "name a file with --passages"),
        (["generate", "answers", "--out", "x", "--passages", "no.json", "--kind", "dates"], "'no.json' does not exist"),
        (["generate", "questions", "--out", "x", "--model", "no"], "either --passages or --answers"),
        (["generate", "questions", "--out", "x", "--model", "no", "--answers", "a"], "'no' is no question generator"),
        (["generate", "distant", "no.jsonl", "--out", "x"], "name files of passages"),
        (["generate", "distant", "no.jsonl", "--passages", "{squad}", "--out", "x"], "'no.jsonl' does not exist"),
        (["generate", "filter", "no.json", "--reader", "no", "--out", "x"], "'no.json' does not exist"),
        (["generate", "filter", "{squad}", "--reader", "no/model", "--out", "x"], "'no/model' does not exist"),
    ],
)
def test_mistakes(
    densephrases: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    small_squad: Path,
    recipe: Path,
    arguments: list[str],
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("no JSON")
    Path("list.json").write_text("[]")
    places = {"text": "text.txt", "list": "list.json", "squad": small_squad, "recipe": recipe}
    result = densephrases(*(argument.format(**places) for argument in arguments))
    assert is_one_sentence(result)
    assert expected in result.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["ask", "index", "who?", "--unit", "word"], "'--unit': 'word' is not one of 'phrase', 'sentence'"),
        (["eval", "reading", "squad.json", "--runtime", "jax"], "'--runtime': 'jax' is not one of"),
    ],
)
def test_values_that_are_no_choice(densephrases: Command, arguments: list[str], expected: str) -> None:
    result = densephrases(*arguments)
    assert result.code == 2
    assert expected in result.err


@pytest.mark.parametrize(
    ("command", "default"),
    [
        (("train", "phrases"), "[default: runs/RECIPE-KIND]"),
        (("eval", "reading"), "[default: int8 if there]"),
        (("export",), "[default: MODEL itself]"),
        (("index",), "[default: chosen by size]"),
        (("demo",), "[default: one in the user's cache]"),
    ],
)
def test_help_keeps_what_stands_in_brackets(densephrases: Command, command: tuple[str, ...], default: str) -> None:
    shown = densephrases(*command, "--help").out
    assert default in " ".join(shown.split())
