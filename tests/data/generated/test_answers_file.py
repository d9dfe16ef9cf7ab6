"""Answers files: made from SQuAD or documents, without what is held out, the same after a kill."""

import json
from pathlib import Path

import pytest

from densephrases.data.decontaminate import LeakReport
from densephrases.data.generated import answers_file as module
from densephrases.data.generated.answers_file import AnswerExtraction, extract_answers, read_answers
from densephrases.data.generated.candidate_answers import AnswerKind
from densephrases.data.squad import read_squad, sample_path
from densephrases.errors import DataError

KINDS = (AnswerKind.dates, AnswerKind.numbers)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    rows = [
        {"id": "a", "title": "A", "paragraphs": ["It was built in 1889. " + "x" * 600, "Later, in 1950. " + "y" * 600]},
        {"id": "b", "title": "B", "text": "The year 1750."},
    ]
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_answers_of_documents(documents: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    report = extract_answers(AnswerExtraction(passages=(documents,), kinds=KINDS), out)
    assert (report.passages, dict(report.types)) == (3, {"DATE_PHRASE": 3})
    assert [[c.text for c in p.candidates] for p in read_answers(out)] == [["1889"], ["1950"], ["1750"]]


def test_held_out_articles_are_left_out(tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    everything = AnswerExtraction(passages=(sample_path(),), kinds=KINDS, exclude=(sample_path(),))
    count = len(read_squad(sample_path()))
    assert extract_answers(everything, out).leaks == LeakReport(checked=count, title=count)
    assert list(read_answers(out)) == []


def test_killed_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PASSAGES_AT_ONCE", 3)
    extraction = AnswerExtraction(passages=(sample_path(),), kinds=KINDS)
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts.jsonl"
    extract_answers(extraction, whole)

    done: list[int] = []

    def kill(count: int) -> None:
        done.append(count)
        if sum(done) > 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_answers(extraction, parts, advance=kill)
    assert not parts.exists()
    seen: list[int] = []
    extract_answers(extraction, parts, advance=seen.append)
    assert seen[0] == 9, "three groups were done"
    assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no JSON", "line 1, is not a passage with answers"),
        ("[" * 5000, "line 1, is not a passage with answers: it is nested more than 100 levels"),
        ('{"id": "a", "text": 5, "answers": []}', "line 1, is not a passage with answers: 5 is no text"),
        ('{"id": "a", "text": "x", "article": 1e999, "answers": []}', "inf is no whole number"),
        ('{"id": "a", "text": "x", "answers": ["x"]}', "line 1, is not a passage with answers"),
        ('{"id": "a", "text": "x"}', "line 1, is not a passage with answers: 'answers' is missing"),
        ('{"id": "a", "text": "x y", "answers": [{"text": "y", "start": 0}]}', "'y' is not at character 0"),
    ],
)
def test_malformed_lines(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=message):
        list(read_answers(tmp_path / "a.jsonl"))
    with pytest.raises(DataError, match=r"'no\.jsonl' does not exist"):
        list(read_answers(Path("no.jsonl")))
