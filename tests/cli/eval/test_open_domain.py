"""`densephrases eval open` on a random model."""

import json
from pathlib import Path
from typing import Any

import pytest

from densephrases.data.kilt import read_kilt
from tests.cli.conftest import Command
from tests.cli.test_main import is_one_sentence

QUESTIONS = [
    {"id": "1", "question": "who built the tower?", "answers": ["Eiffel"]},
    {"id": "2", "question": "where is rome?", "answers": ["Italy"]},
    {"id": "3", "question": "when was it?", "answers": [r"18\d\d"], "regex": True},
]


def json_lines(path: Path, entries: list[Any]) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return json_lines(tmp_path / "questions.jsonl", QUESTIONS)


def test_json(densephrases: Command, made_index: Path, questions: Path) -> None:
    result = densephrases("eval", "open", made_index, questions, "--json")
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["questions"], found["answerable"], found["k"]) == (3, 2, 100)
    assert found["ceiling"] == pytest.approx(200 / 3)
    assert found["exact_match_at"].keys() == {"1", "5", "10", "20", "100"}
    assert found["exact_match"] == found["exact_match_at"]["1"]
    assert found["passages"]["hits_at"]["100"] >= found["exact_match_at"]["100"]
    assert found["truecase"] == "no effect: the model ignores case"
    assert (found["format"], found["matching"], found["notes"]) == ("lines", "regex", [])
    assert found["lexical_weight"] == 0, "as the model says"
    assert (
        json.loads(densephrases("eval", "open", made_index, questions, "--lexical-weight", "2", "--json").out)[
            "lexical_weight"
        ]
        == 2
    )


def test_for_a_person(densephrases: Command, made_index: Path, questions: Path) -> None:
    result = densephrases("eval", "open", made_index, questions, "-k", "10")
    assert result.code == 0
    assert "3 questions over 3 documents; truecasing: no effect: the model ignores case" in result.out
    assert "of 66.67 possible" in result.out
    assert "EM (at most 66.67)" in result.out


def test_prediction_files(densephrases: Command, made_index: Path, questions: Path, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("out.jsonl", "run.txt", "kilt.jsonl")]
    options = [part for pair in zip(("--out", "--trec-run", "--kilt"), paths, strict=True) for part in pair]
    result = densephrases("eval", "open", made_index, questions, "--unit", "document", "-k", "3", *options)
    assert result.code == 0
    assert [json.loads(line)["id"] for line in paths[0].read_text().splitlines()] == ["1", "2", "3"]
    assert len(paths[1].read_text().splitlines()) == 9
    assert [record.id for record in read_kilt(paths[2])] == ["1", "2", "3"]


def test_candidates(densephrases: Command, made_index: Path, questions: Path, tmp_path: Path) -> None:
    (tmp_path / "candidates.txt").write_text("the Eiffel\nItaly\n")
    result = densephrases(
        "eval", "open", made_index, questions, "--candidates", tmp_path / "candidates.txt", "-k", "1000", "--json"
    )
    found = json.loads(result.out)
    assert found["matching"] == "regex, candidates"
    assert found["exact_match"] >= 100 / 3  # the only allowed phrase of the text is the answer


def test_documents_alone(densephrases: Command, made_index: Path, tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ttower.txt\t1\n")
    json_lines(tmp_path / "queries.jsonl", [{"_id": "1", "text": "tower"}])
    result = densephrases("eval", "open", made_index, tmp_path, "--unit", "document")
    assert result.code == 0
    assert "nDCG@10" in result.out
    assert "EM" not in result.out


def test_mistakes_are_one_sentence(densephrases: Command, made_index: Path, questions: Path, tmp_path: Path) -> None:
    bad = json_lines(tmp_path / "bad.jsonl", [*QUESTIONS, {"id": "4"}])
    for arguments in (
        [made_index, bad],
        [made_index, tmp_path / "none.jsonl"],
        [tmp_path / "none", questions],
        [made_index, questions, "--out", tmp_path / "no" / "out.jsonl"],
        [made_index, questions, "-k", "0"],
    ):
        assert is_one_sentence(densephrases("eval", "open", *arguments))
    assert "line 4" in densephrases("eval", "open", made_index, bad).err
