"""Command lines with any values, run in this process inside a folder of their own.

Commands that serve, train, download or run a recipe, which is a program, are left out. No model is ever loaded: the one
that is named has a configuration and nothing else.
"""

import io
import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import click
from typer.main import get_command

from densephrases.cli import main as command_line
from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import MANIFEST_FILE
from densephrases.index.settings import IndexSettings
from tests.faults.fuzz_configs import DOCUMENTS
from tests.faults.fuzz_documents import SEEDS, quiet
from tests.faults.mutate import mutated, mutated_json
from tests.faults.outcome import Outcome
from tests.index.made_up import HashEncoder

PROMISE = "Any command line ends with a result or with one sentence, and exit code 0 or 2"
COMMANDS = (
    *(("index",), ("add",), ("update",), ("delete",), ("optimize",), ("info",), ("check",), ("ask",), ("extract",)),
    *(("eval", "open"), ("eval", "slots"), ("generate", "strip-passages"), ("generate", "join-passages"), ()),
)
_FILES = {
    "a.txt": SEEDS[".txt"],
    "docs/b.html": SEEDS[".html"],
    "docs/c.jsonl": SEEDS[".jsonl"],
    "questions.jsonl": b'{"question": "Who?", "answers": ["Bob"]}\n',
    "squad.json": b'{"data": [{"paragraphs": [{"context": "a b", "qas": [{"id": 1, "question": "q", "answers": '
    b'[{"text": "a", "answer_start": 0}], "generated": true}]}]}]}',
}
_PLACES = (*_FILES, "docs", "index", "model", "nothing", "new", "", ".", "a.txt/b", "x" * 300, "\udcff", "new/deep/er")
_WORDS = (
    *("Who?", "", " ", "a=b", "=", "lang=", "-1", "0", "1", "5", "99999999999999999999", "1e999", "nan", "inf", "-inf"),
    *("0.5", "50M", "1K", "none", "pq", "int8", "exact", "phrase", "document", "\udcff"),
    *("[bold]", "{}", "%s", "é😀", "x" * 3000, "--", "-", "lines", "kilt", "cpu"),
)
_LEFT_OUT = ("--help", "--model", "--device", "--install-completion", "--show-completion")
_FINE = {(): (0, 2), ("check",): (0, 1, 2)}  # `check` ends with 1 if something is damaged


def attack(cases: int, seed: int, folder: Path) -> Outcome:
    chance = random.Random(seed)  # noqa: S311
    quiet()
    with _inside(folder):
        manifest = _prepare()
        options = {command: _options(command) for command in COMMANDS}
        failures = []
        for number in range(cases):
            if number % 20 == 0 or not Path("index", MANIFEST_FILE).is_file():
                _restore(manifest, chance)
            command = chance.choice(COMMANDS)
            line = [*command, *_arguments(command, options[command], chance)]
            if fault := run_fault(line, _FINE.get(command, (0, 2))):
                failures.append(f"case {number}, {json.dumps(line)[:200]}: {fault}"[:500])
            if escaped := [path.name for path in Path("..").iterdir() if path.name != "inner"]:
                failures.append(f"case {number}, {line}: wrote {escaped} outside of its folder")
                break
    return Outcome(PROMISE, cases, tuple(failures))


def run_fault(line: list[str], fine: tuple[int, ...]) -> str:
    """What is wrong with how a command ends; nothing if all is well."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["densephrases", *line]),
        mock.patch.object(sys, "stdin", io.StringIO("Who?\n")),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            command_line.main()
            code: Any = 0
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return f"{type(error).__name__}: {error}"
    if code not in fine:
        return f"exit code {code}: {err.getvalue()[-200:]}"
    return "a traceback" if "Traceback" in err.getvalue() else ""


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Whoever leaves the folder by one step is noticed: it has a parent of its own."""
    before = Path.cwd()
    inner = folder / "outer" / "inner"
    inner.mkdir(parents=True)
    os.chdir(inner)
    try:
        yield
    finally:
        os.chdir(before)


def _prepare() -> bytes:
    encoder = HashEncoder()
    made = IndexFolder.create(Path("sound"), IndexSettings.from_encoder(encoder, "hash"))
    made.add(DOCUMENTS, encoder)
    Path("model").mkdir()
    encoder.config.save(Path("model"))
    return Path("sound", MANIFEST_FILE).read_bytes()


def _restore(manifest: bytes, chance: random.Random) -> None:
    """All files as they were; the index and the documents are sometimes damaged."""
    for place in Path().iterdir():
        if place.name not in ("sound", "model"):
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    shutil.copytree("sound", "index")
    if chance.random() < 0.3:
        Path("index", MANIFEST_FILE).write_bytes(mutated_json(json.loads(manifest), chance))
    for name, content in _FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(mutated(content, chance) if chance.random() < 0.5 else content)


def _options(command: tuple[str, ...]) -> list[tuple[str, bool]]:
    """The options of a command, each with whether it takes a value."""
    found: Any = get_command(command_line.app)
    for name in command:
        found = found.commands[name]
    return [
        (name, not parameter.is_flag)
        for parameter in found.params
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name not in _LEFT_OUT
    ]


def _arguments(command: tuple[str, ...], options: list[tuple[str, bool]], chance: random.Random) -> list[str]:
    """Places first, which most commands need, then some options with values."""
    line = [_place(command, chance) for _ in range(chance.choice((0, 1, 1, 2, 2, 3)))]
    for name, takes_value in chance.sample(options, min(len(options), chance.choice((0, 1, 1, 2, 3)))):
        line += [name, _value(chance)] if takes_value and chance.random() < 0.97 else [name]
    if command == ("index",) and chance.random() < 0.8:
        line += ["--out", chance.choice(("new", "index", "model", "docs"))]
    if command and command[0] in ("index", "add", "update", "ask", "extract", "eval"):
        line += ["--model", chance.choice(("model", "nothing/at/all", "nothing"))]
    if chance.random() < 0.05:
        chance.shuffle(line)
    return line


def _place(command: tuple[str, ...], chance: random.Random) -> str:
    if command and command[0] not in ("index", "eval", "generate") and chance.random() < 0.6:
        return "index"
    return chance.choice(_PLACES)


def _value(chance: random.Random) -> str:
    return chance.choice(_WORDS if chance.random() < 0.7 else _PLACES)
