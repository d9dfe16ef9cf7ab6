"""Ctrl-C at a build of one long document: signals sent to the command in a process of its own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from densephrases.index.folder import IndexFolder
from densephrases.index.manifest import MANIFEST_FILE
from tests.index.made_up import long_text

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows sends no signals to one process")

# Small chunks, of which each takes a moment or, where the test says so, forever.
COMMAND = """
import signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell starts in the background
from densephrases.cli.main import main
from densephrases.index.build import builder
from densephrases.model.encoder import Encoder

seconds = float(sys.argv.pop(1))
Encoder.tokens_per_chunk = 128
builder.PARTIAL_VECTORS = 400
encode = Encoder.encode_tokenized

def slowly(self, tokenized, check=lambda: None):
    encoded = encode(self, tokenized, check)
    if threading.current_thread() is not threading.main_thread():
        time.sleep(seconds)
    return encoded

Encoder.encode_tokenized = slowly
main()
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("book") / "book.txt"
    path.write_text(long_text(3, 4_000), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(book: Path, exported: Path, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The contents of an index that was built without a stop."""
    index = tmp_path_factory.mktemp("whole") / "index"
    done = started(0, "index", book, "--model", exported, "--filter-threshold", "none", "--out", index)
    assert done.communicate()[1] == ""
    return contents(index)


def started(seconds: float, *arguments: str | Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", COMMAND, str(seconds), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603


def parts(index: Path) -> list[int]:
    """How far the committed parts of the document reach."""
    if not (index / MANIFEST_FILE).is_file():
        return []
    return [part["characters"] for part in json.loads((index / MANIFEST_FILE).read_text()).get("unfinished", [])]


def wait_for_parts(process: "subprocess.Popen[str]", index: Path, count: int) -> None:
    while len(parts(index)) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def contents(index: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted((index / "segments").rglob("*.bin"))]


def test_one_stops_it_and_the_same_command_goes_on_inside_the_document(
    book: Path, exported: Path, whole: list[bytes], tmp_path: Path
) -> None:
    run: list[str | Path] = ["index", book, "--model", exported, "--filter-threshold", "none", "--out"]
    index, reached = tmp_path / "index", 0
    for _ in range(2):
        process = started(0.05, *run, index)
        wait_for_parts(process, index, len(parts(index)) + 1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        assert process.returncode == 130, said
        stopped = re.search(r"The index has 0 documents and the first ([\d,]+) characters of 'book.txt'; run", said)
        assert stopped, said
        assert int(stopped[1].replace(",", "")) == parts(index)[-1] > reached
        reached = parts(index)[-1]
        assert IndexFolder.open(index).check() == []
        assert IndexFolder.open(index).find("book.txt") is None, "half a document is no document"
    finished = started(0, *run, index)
    out, _ = finished.communicate()
    assert finished.returncode == 0
    assert out.startswith("1 document indexed")
    assert contents(index) == whole


def test_a_second_one_ends_it_at_once(book: Path, exported: Path, tmp_path: Path) -> None:
    """While the first one waits for an encoder that does not return."""
    index = tmp_path / "index"
    run: list[str | Path] = ["index", book, "--model", exported, "--filter-threshold", "none", "--out", index]
    first = started(0.05, *run)
    wait_for_parts(first, index, 1)
    first.send_signal(signal.SIGINT)
    first.communicate()
    before = parts(index)

    process = started(3600, *run)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Resuming")
    time.sleep(1)  # until the encoder has its first chunk, or not: it ends in either case
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert "terminate called" not in said
    assert "run the same command again" in said
    assert parts(index)[: len(before)] == before
    assert IndexFolder.open(index).check() == []


@pytest.mark.parametrize("moment", [0.0, 0.03, 0.1])
def test_a_kill_costs_only_what_is_not_committed(
    book: Path, exported: Path, whole: list[bytes], tmp_path: Path, moment: float
) -> None:
    run: list[str | Path] = ["index", book, "--model", exported, "--filter-threshold", "none", "--out"]
    index = tmp_path / "index"
    process = started(0.05, *run, index)
    wait_for_parts(process, index, 2)
    time.sleep(moment)
    process.kill()
    process.communicate()
    assert len(parts(index)) >= 2
    finished = started(0, *run, index)
    finished.communicate()
    assert finished.returncode == 0
    assert contents(index) == whole
