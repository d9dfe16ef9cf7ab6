"""`densephrases sync`, and ids of several folders."""

import json
import os
import shutil
from pathlib import Path

import pytest

from densephrases.search.phrase_index import PhraseIndex
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    for name in ("pa", "pb"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"The city of {name} is in Italy.")
    return tmp_path


def ids(folder: Path) -> list[str]:
    return sorted(document.id for document in PhraseIndex.open(folder).documents())


def test_two_folders_with_files_of_the_same_name(densephrases: Command, projects: Path, exported: Path) -> None:
    made = densephrases("index", projects / "pa", projects / "pb", "--out", projects / "i", "--model", exported)
    assert made.code == 0
    assert ids(projects / "i") == ["pa/README.md", "pb/README.md"]
    assert f"pb: {projects}/pb, ids pb/" in densephrases("info", projects / "i").out
    again = densephrases("update", projects / "i", projects / "pb")
    assert again.out.endswith(", 1 unchanged\n")


def test_another_folder_later(
    densephrases: Command, projects: Path, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = projects / "i"
    assert densephrases("index", projects / "pa", "--out", index, "--model", exported).code == 0
    assert densephrases("update", index, projects / "pb").code == 0
    assert ids(index) == ["README.md", "pb/README.md"]
    monkeypatch.chdir(projects / "pa")
    (projects / "pa" / "README.md").write_text("The tower is in London.")
    result = densephrases("update", index, ".")
    assert (result.err, ", 1 replaced" in result.out) == ("Replaced: README.md\n", True)
    assert ids(index) == ["README.md", "pb/README.md"]


def test_another_folder_of_the_same_name(densephrases: Command, projects: Path, exported: Path) -> None:
    index, other = projects / "i", projects / "other" / "pa"
    assert densephrases("index", projects / "pa", "--out", index, "--model", exported).code == 0
    shutil.copytree(projects / "pb", other)
    refused = densephrases("update", index, other)
    assert is_one_sentence(refused)
    assert f"--root OTHER={other}" in refused.err
    assert densephrases("update", index, "--root", f"second={other}").code == 0
    assert ids(index) == ["README.md", "second/README.md"]
    (projects / "there").mkdir()
    (projects / "pa").rename(projects / "there" / "pa")
    moved = densephrases("sync", index, projects / "there" / "pa", "--moved")
    assert moved.out.endswith(", 1 unchanged\n")
    assert ids(index) == ["README.md", "second/README.md"]


def test_sync(densephrases: Command, projects: Path, exported: Path) -> None:
    index, docs = projects / "i", projects / "pa"
    (docs / "old.txt").write_text("Rome is a city.")
    assert densephrases("index", docs, "--out", index, "--model", exported).code == 0
    (docs / "old.txt").unlink()
    (docs / "new.txt").write_text("London is a city.")
    (docs / "README.md").write_text("The tower is in London.")
    preview = densephrases("sync", index, docs, "--dry-run")
    assert preview.out == "add\tnew.txt\nreplace\tREADME.md\ndelete\told.txt\n"
    assert preview.err == "Would add 1 document, replace 1 and delete 1; 0 unchanged. Nothing was changed.\n"
    assert ids(index) == ["README.md", "old.txt"]
    result = densephrases("sync", index, docs)
    assert result.err == "Replaced: README.md\nDeleted: old.txt\n"
    assert result.out.startswith("2 documents indexed: ")
    assert result.out.endswith(", 1 replaced, 1 deleted\n")
    assert ids(index) == ["README.md", "new.txt"]
    os.utime(docs / "new.txt", ns=(1, 1))
    assert densephrases("sync", index, docs).out.startswith("0 documents indexed: ")


def test_everything_skipped_is_reported(densephrases: Command, projects: Path, exported: Path) -> None:
    docs, report = projects / "pa", projects / "report.jsonl"
    (docs / "node_modules").mkdir()
    for number in range(7):
        (docs / f"{number}.bin").write_bytes(bytes(9))
        (docs / f"{number}.txt").touch()
        (docs / f"{number}.py").write_text("pass")
    result = densephrases("index", docs, "--out", projects / "i", "--model", exported, "--report", report)
    *examples, skipped, left_out = result.err.splitlines()
    assert len(examples) == 5
    assert skipped == "14 files or records skipped: 7 not text, 7 empty; --report FILE lists them."
    assert left_out.startswith("8 files or folders left out: 7 source code, 1 dependencies; --include PATTERN or --all")
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    assert len(lines) == 22
    assert {"path": str(docs / "6.txt"), "kind": "empty", "reason": "has no text."} in lines
    more = densephrases("add", projects / "i", docs, "--include", "*.py", "--exclude", "3.*", "--report", report)
    assert more.out.startswith("6 documents indexed: ")
    assert is_one_sentence(densephrases("sync", projects / "i", docs, "--report", projects / "none" / "r"))


def test_nothing_to_read(densephrases: Command, index: Path) -> None:
    for command in ("add", "update", "sync", "watch"):
        result = densephrases(command, index)
        assert is_one_sentence(result)
        assert "No files or folders are given" in result.err
    assert "is not of the form NAME=FOLDER" in densephrases("sync", index, "--root", "x").err
