"""Nothing to be tested on is learned: found by title, by eight words in a row and by a question's text."""

import json
from pathlib import Path

import pytest

from densephrases.data.decontaminate import HeldOut, LeakReport, grams
from densephrases.data.squad import questions_of, read_squad, sample_path
from densephrases.errors import DataError
from densephrases.text.passages import Passage

TEXT = "The Eiffel Tower was built in Paris in 1889, by Gustave Eiffel."


def test_grams() -> None:
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    assert list(grams("One, two three four-five six seven eight nine!")) == [words[:8], words[1:]]
    assert list(grams("Only three words")) == [("only", "three", "words")]
    assert list(grams(" ")) == []


@pytest.mark.parametrize(
    ("passage", "reason"),
    [
        (Passage("something else", "Eiffel_Tower"), "title"),
        (Passage("something else", "eiffel tower"), "title"),
        (Passage("They say the Eiffel tower -- was built in Paris in 1889.", "Paris"), "overlap"),
        (Passage("The Eiffel Tower was built in Paris.", "Paris"), None),
        (Passage("", ""), None),
    ],
)
def test_reasons(passage: Passage, reason: str | None) -> None:
    assert HeldOut([Passage(TEXT, "Eiffel Tower"), Passage("untitled")]).reason(passage) == reason


def test_everything_is_counted() -> None:
    held_out, report = HeldOut.read([sample_path()]), LeakReport()
    assert not held_out.admits(Passage("x", next(iter(held_out.titles))), report)
    assert not held_out.admits(Passage(f"so {' '.join(next(iter(held_out.grams)))} on", "x"), report)
    assert held_out.admits(Passage("an innocent text", "x"), report)
    assert report == LeakReport(checked=3, title=1, overlap=1)
    assert report.clean == 1
    assert str(report) == "3 passages checked, 1 left out by title and 1 by a shared sequence of 8 words"


def test_nothing_held_out_admits_all() -> None:
    assert HeldOut.read([]).reason(Passage(TEXT, "")) is None
    assert HeldOut.read([]).admits_question("", LeakReport())


def test_questions_are_held_out_by_their_text(tmp_path: Path) -> None:
    (tmp_path / "open.jsonl").write_text('{"id": "1", "question": "Who built the Eiffel Tower?", "answers": ["x"]}\n')
    held_out, report = HeldOut.read([sample_path(), tmp_path / "open.jsonl"]), LeakReport()
    asked = next(question.text for _, question in questions_of(read_squad(sample_path())))
    assert not held_out.admits_question("who built an eiffel tower", report)
    assert not held_out.admits_question(asked.upper(), report)
    assert held_out.admits_question("who built the tower", report)
    assert report == LeakReport(checked_questions=3, questions=2)
    assert str(report).endswith("; 3 questions checked, 2 left out by their text")


def test_a_question_file_holds_out_no_passage(tmp_path: Path) -> None:
    (tmp_path / "open.jsonl").write_text(json.dumps({"id": "1", "question": TEXT, "answers": ["x"]}))
    assert HeldOut.read([tmp_path / "open.jsonl"]).reason(Passage(TEXT, TEXT)) is None


@pytest.mark.parametrize(("name", "content"), [("no.json", None), ("x.json", "[1]"), ("x.json", "{"), ("x.txt", "a b")])
def test_other_files_are_no_squad_json(tmp_path: Path, name: str, content: str | None) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=name):
        HeldOut.read([tmp_path / name])
