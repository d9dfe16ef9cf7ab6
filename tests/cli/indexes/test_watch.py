"""`densephrases watch` as a process of its own: it follows its folders and stops on Ctrl-C."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from densephrases.search.phrase_index import PhraseIndex


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("Rome is a city in Italy.")
    return tmp_path / "docs"


@pytest.fixture
def watching(docs: Path, exported: Path, tmp_path: Path) -> Iterator[Any]:
    from densephrases.text.readers.read import read_documents

    PhraseIndex.create(tmp_path / "index", read_documents([docs]), model=exported)
    command = [sys.executable, "-u", "-m", "densephrases", "watch", str(tmp_path / "index"), str(docs)]
    options: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # background jobs ignore it
    with subprocess.Popen([*command, "--settle", "0.3"], **options) as process:  # noqa: S603
        yield process
        process.kill()


def ids(folder: Path) -> list[str]:
    return sorted(document.id for document in PhraseIndex.open(folder).documents())


def test_it_follows_and_stops(watching: Any, docs: Path, tmp_path: Path) -> None:
    assert watching.stdout.readline() == f"Watching {docs}; Ctrl-C stops.\n"
    (docs / "b.txt").write_text("London is a city.")
    assert "1 added (b.txt); 2 documents" in watching.stdout.readline()
    (docs / "half.txt").write_bytes(bytes(9))  # reserved, but not yet written
    (docs / "c.txt").write_text("Paris is a city.")
    assert "1 added (c.txt); 3 documents" in watching.stdout.readline()
    (docs / "half.txt").write_text("Zürich is a city.")
    assert "1 added (half.txt); 4 documents" in watching.stdout.readline()
    (docs / "a.txt").rename(docs / "z.txt")
    assert "1 added (z.txt), 1 deleted (a.txt); 4 documents" in watching.stdout.readline()
    assert ids(tmp_path / "index") == ["b.txt", "c.txt", "half.txt", "z.txt"]
    os.kill(watching.pid, signal.SIGINT)
    out, err = watching.communicate()
    assert (watching.returncode, out, err) == (0, "Stopped watching; the index is as the last line says.\n", "")


def test_it_waits_for_a_missing_folder(watching: Any, docs: Path, tmp_path: Path) -> None:
    watching.stdout.readline()
    docs.rename(tmp_path / "away")
    assert f"Waiting: '{docs}' does not exist" in watching.stdout.readline()
    assert ids(tmp_path / "index") == ["a.txt"]
    (tmp_path / "away").rename(docs)
    (docs / "b.txt").write_text("London is a city.")
    assert "1 added (b.txt); 2 documents" in watching.stdout.readline()
    os.kill(watching.pid, signal.SIGTERM)
    watching.communicate()
    assert watching.returncode == 0
