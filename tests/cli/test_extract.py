"""`densephrases extract` on a random model: a table as CSV and as JSON lines."""

import csv
import io
import json
from pathlib import Path

import pytest

from .conftest import TEXTS, Command
from .test_main import is_one_sentence


@pytest.fixture
def subjects(tmp_path: Path) -> Path:
    path = tmp_path / "subjects.txt"
    path.write_text("paris\n\n London \n")
    return path


def test_csv_on_stdout(densephrases: Command, made_index: Path, subjects: Path) -> None:
    result = densephrases("extract", made_index, "--relation", "country", "--subjects", subjects, "--anywhere")
    assert result.code == 0
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["subject"] for row in rows] == ["paris", "London"]
    assert [row["title"] for row in rows] == ["paris", "London"]
    for row in rows:
        text = TEXTS[row["document"]].removeprefix("# ")
        assert text[int(row["start"]) : int(row["end"])] == row["object"]
        assert row["object"] in row["sentence"]


def test_json_lines(densephrases: Command, made_index: Path, subjects: Path, tmp_path: Path) -> None:
    out = tmp_path / "facts.jsonl"
    common = ("extract", made_index, "--relation", "country", "--subjects", subjects, "--anywhere")
    result = densephrases(*common, "--out", out)
    assert (result.code, result.out) == (0, "")
    assert "2 objects of 2 subjects written to" in result.err
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["subject"], row["relation"]) for row in rows] == [("paris", "country"), ("London", "country")]
    assert all(row["object"] for row in rows)


def test_the_question_may_be_worded(densephrases: Command, made_index: Path, subjects: Path) -> None:
    common = ("extract", made_index, "--relation", "country", "--subjects", subjects, "--anywhere")
    asked = densephrases(*common, "--no-prefer-titles", "--template", "where is {subject}?").out
    assert next(csv.DictReader(io.StringIO(asked)))["object"] in densephrases("ask", made_index, "where is paris?").out


def test_text_about_others_is_left_out(densephrases: Command, made_index: Path, subjects: Path) -> None:
    subjects.write_text("Atlantis\nAtlantis\tParis\n")
    result = densephrases("extract", made_index, "--relation", "name", "--subjects", subjects)
    first, second = csv.DictReader(io.StringIO(result.out))
    assert first["subject"] == second["subject"] == "Atlantis"
    assert second["title"] == "paris", "another name of it"


def test_mistakes_are_one_sentence(densephrases: Command, made_index: Path, subjects: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    common = ("extract", made_index, "--relation", "country", "--subjects")
    for arguments, message in (
        ((empty,), "names no subject"),
        ((tmp_path / "none.txt",), "cannot be read"),
        ((subjects, "--out", tmp_path / "table.xlsx"), ".csv nor a .jsonl"),
        ((subjects, "--out", tmp_path / "no" / "table.csv"), "its folder does not exist"),
        ((subjects, "--template", "who?"), "{subject}"),
        ((subjects, "--min-confidence", "0.5"), "calibration"),
        ((subjects, "--task", "nosuch"), "nosuch"),
    ):
        result = densephrases(*common, *arguments)
        assert is_one_sentence(result), arguments
        assert message in result.err
