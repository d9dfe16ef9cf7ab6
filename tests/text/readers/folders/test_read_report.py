"""What was skipped, counted and written to a file."""

import json
from pathlib import Path

import pytest

from densephrases.text.documents import Skipped
from densephrases.text.readers.folders.read_report import ReadReport, reporting


def skip_some(report: ReadReport) -> None:
    report.skip(Skipped("a\tb.png", "is binary.", "not text"))
    report.skip_empty("c.txt")
    report.leave_out("node_modules", "dependencies")


def test_counts_by_kind() -> None:
    report = ReadReport()
    skip_some(report)
    assert (report.skipped, report.empty) == (1, 1)
    assert report.kinds == {"not text": 1, "empty": 1}
    assert report.left_out == {"dependencies": 1}


def test_json_lines(tmp_path: Path) -> None:
    report = ReadReport()
    with reporting(report, tmp_path / "r.jsonl"):
        skip_some(report)
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [(line["path"], line["kind"]) for line in lines] == [
        *(("a\tb.png", "not text"), ("c.txt", "empty"), ("node_modules", "dependencies")),
    ]
    assert lines[1]["reason"] == "has no text."


def test_text_also_if_reading_fails(tmp_path: Path) -> None:
    report = ReadReport()

    def fail() -> None:
        with reporting(report, tmp_path / "r.txt"):
            skip_some(report)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "r.txt").read_text().splitlines()[0] == "a b.png\tnot text\tis binary."
    assert [path.name for path in tmp_path.iterdir()] == ["r.txt"]


def test_no_file() -> None:
    report = ReadReport()
    with reporting(report, None):
        skip_some(report)
    assert report.on_skip is None
    assert report.skipped
