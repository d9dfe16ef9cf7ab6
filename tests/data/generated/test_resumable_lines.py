"""Resumable lines: a kill at any byte costs at most one group."""

import json
from pathlib import Path

import pytest

from densephrases.data.generated.resumable_lines import ResumableLines
from densephrases.errors import DataError

RECORDS = [{"number": number, "text": "né"} for number in range(7)]


def make(target: Path, group: int = 2) -> list[int]:
    """Adds what is missing; returns where it began."""
    lines = ResumableLines(target, {"a": 1}, group)
    begun = lines.done
    for at in range(lines.done, len(RECORDS), group):
        lines.add(RECORDS[at : at + group])
    assert lines.records() == RECORDS
    lines.finish()
    return [begun]


def test_killed_anywhere(tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    make(whole)
    assert ResumableLines.is_finished(whole, {"a": 1})
    assert not ResumableLines.is_finished(whole, {"a": 2})
    assert not ResumableLines.is_finished(tmp_path / "cut.jsonl", {"a": 1})
    content = whole.read_bytes()
    head = content.index(b"\n") + 1
    partial = tmp_path / "cut.jsonl.unfinished"
    for cut in range(len(content)):
        partial.write_bytes(content[:cut])
        (begun,) = make(tmp_path / "cut.jsonl")
        assert begun == (content[head:cut].count(b"\n") // 2 * 2 if cut >= head else 0)
        assert (tmp_path / "cut.jsonl").read_bytes() == content
        assert not partial.exists()


def test_other_settings_are_refused(tmp_path: Path) -> None:
    ResumableLines(tmp_path / "x.jsonl", {"seed": 1}).add(RECORDS)
    with pytest.raises(DataError, match=r"started with other settings .*\"seed\": 1.* --no-resume"):
        ResumableLines(tmp_path / "x.jsonl", {"seed": 2})
    assert ResumableLines(tmp_path / "x.jsonl", {"seed": 1}).done == 7
    assert ResumableLines(tmp_path / "x.jsonl", {"seed": 2}, resume=False).done == 0


def test_discarded(tmp_path: Path) -> None:
    lines = ResumableLines(tmp_path / "folder" / "x.jsonl", {})
    assert json.loads(lines.path.read_text()) == {"settings": {}}
    lines.discard()
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("line", [b"\xff\n", b"[]\n", b"{\n", b"[" * 5000 + b"\n"])
def test_damaged_lines_are_named(tmp_path: Path, line: bytes) -> None:
    lines = ResumableLines(tmp_path / "a.jsonl", {"a": 1})
    lines.path.write_bytes(lines.path.read_bytes() + line)
    with pytest.raises(DataError, match="line 2, is damaged"):
        ResumableLines(tmp_path / "a.jsonl", {"a": 1}).records()
    lines.path.write_bytes(b"\xff\n")
    with pytest.raises(DataError, match="was started with other settings"):
        ResumableLines(tmp_path / "a.jsonl", {"a": 1})
