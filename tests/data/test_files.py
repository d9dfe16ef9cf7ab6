"""Question files: compressed, published, and with something to note."""

import gzip
from pathlib import Path

import pytest

from densephrases.data.files import official_file, read_questions
from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import sample_path
from densephrases.errors import DataError
from tests.data.test_formats import lines, written


def test_compressed(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl.gz"
    path.write_bytes(gzip.compress(lines({"question": "who", "answer": "B"}).encode()))
    assert read_questions(path).questions == [OpenQuestion("1", "who", ("B",))]


def test_curated_trec_as_json_lines(tmp_path: Path) -> None:
    content = lines({"question": "Who?", "answer": ["B+"]})
    named = written(tmp_path, content)
    assert read_questions(named, "trec").questions[0].regex
    assert read_questions(named, regex=True).questions[0].regex
    assert not read_questions(named).questions[0].regex
    assert read_questions(written(tmp_path, content, "CuratedTrec-test.txt")).questions[0].regex


def test_patterns_may_be_read_as_texts(tmp_path: Path) -> None:
    assert not read_questions(written(tmp_path, "1\tWho?\tB\n"), regex=False).questions[0].regex


def test_the_sample() -> None:
    assert len(read_questions(sample_path()).questions) > 50


@pytest.mark.parametrize(
    ("name", "label", "count"),
    [
        ("nq-test.qa.csv", "Natural Questions (test)", 3610),
        ("NQ-open.train.jsonl", "Natural Questions (train and dev)", 87925),
        ("CuratedTrec-test.txt", "CuratedTREC (test)", 694),
        ("webquestions.examples.train.json.bz2", "WebQuestions (train and dev)", 3778),
        ("trex-dev-kilt.jsonl", "T-REx (dev)", 5000),
    ],
)
def test_what_the_paper_counts(name: str, label: str, count: int) -> None:
    official = official_file(Path(name))
    assert official is not None
    assert (official.name, official.questions) == (label, count)


def test_no_official_file() -> None:
    assert official_file(Path("nq-dev.jsonl.gz")) is None


def test_notes(tmp_path: Path) -> None:
    entries = [{"question": "who", "answer": ["B"]}, {"question": "what", "answer": []}]
    notes = read_questions(written(tmp_path, lines(*entries), "NQ-open.dev.jsonl")).notes
    assert notes == [
        "NQ-open.dev.jsonl: 2 questions, not 3,610 as in Table C.1 of the paper for Natural Questions (test).",
        "Questions without an answer, which are left out: 1.",
    ]


def test_broken_patterns_are_counted(tmp_path: Path) -> None:
    notes = read_questions(written(tmp_path, "1\tWho?\tB\\\n2\tWho?\tC\n")).notes
    assert notes == ["Invalid regular expressions, which match nothing: 1."]


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        read_questions(tmp_path / "missing")
    with pytest.raises(DataError, match="is a folder"):
        read_questions(tmp_path, "squad")
    (tmp_path / "broken.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError, match=r"broken\.gz' cannot be read"):
        read_questions(tmp_path / "broken.gz")
