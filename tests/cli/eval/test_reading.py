"""`densephrases eval reading` on a random model: what it prints and what it writes."""

import json
import re
from pathlib import Path

import pytest

from densephrases.cli.eval import reading
from tests.cli.conftest import Command


def test_reading_as_json(densephrases: Command, exported: Path, small_squad: Path) -> None:
    result = densephrases("eval", "reading", small_squad, "--model", exported, "--json")
    assert result.code == 0
    values = json.loads(result.out)
    assert values.keys() >= {"questions", "exact_match", "f1"}
    assert (values["questions"], values["unanswerable"], values["passages"]) == (10, 1, 2)
    assert 0 <= values["exact_match"] <= values["f1"] <= 100


@pytest.mark.parametrize(
    "options", [[], ["--precision", "fp32"], ["--all-passages"], ["--threshold", "0.1"], ["--quantizer", "int4"]]
)
def test_reading_in_words(densephrases: Command, exported: Path, small_squad: Path, options: list[str]) -> None:
    result = densephrases("eval", "reading", small_squad, "--model", exported, *options)
    assert result.code == 0
    scope = "all 2 passages" if "--all-passages" in options else "each question's passage"
    assert re.fullmatch(rf"10 questions over {scope}: EM \d+\.\d\d, F1 \d+\.\d\d\n", result.out)


@pytest.mark.parametrize("options", [[], ["--all-passages"]])
def test_reading_counts_words_as_told(
    densephrases: Command, exported: Path, tmp_path: Path, options: list[str]
) -> None:
    """In passages of one word, which the questions have, every phrase repeats it."""
    data, predictions = tmp_path / "repeating.json", tmp_path / "predictions.jsonl"
    asked = {"id": "1", "question": "Who is Ada?", "answers": [{"text": "Ada", "answer_start": 0}]}
    paragraphs = [{"context": "Ada Ada Ada", "qas": [asked]}, {"context": "Ada", "qas": [asked | {"id": "2"}]}]
    data.write_text(json.dumps({"data": [{"title": "", "paragraphs": paragraphs}]}))
    scores = []
    for words in ([], ["--lexical-weight", "0"], ["--lexical-weight", "50"]):
        command = ["eval", "reading", data, "--model", exported, "--predictions", predictions]
        assert densephrases(*command, *options, *words).code == 0
        scores.append([json.loads(line)["score"] for line in predictions.read_text().splitlines()])
    assert scores[0] == scores[1]  # the model's own weight is 0
    assert all(worded < plain for worded, plain in zip(scores[2], scores[1], strict=True))


def test_torch_and_onnx_agree(densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path) -> None:
    answers = []
    for runtime in ("torch", "onnx"):
        path = tmp_path / f"{runtime}.jsonl"
        options = ["--runtime", runtime, "--precision", "fp32", "--predictions", path]
        assert densephrases("eval", "reading", small_squad, "--model", exported, *options).code == 0
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        answers.append([(row["id"], row["answer"]) for row in rows])
    assert answers[0] == answers[1]
    assert len(answers[0]) == 10


def test_predictions_that_cannot_be_written_are_refused_before_the_work(
    densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "encode_squad", lambda *_: pytest.fail("must not begin"))
    place = tmp_path / "missing" / "answers.jsonl"
    result = densephrases("eval", "reading", small_squad, "--model", exported, "--predictions", place)
    assert result.code == 2
    assert result.err.startswith(f"Error: Predictions cannot be written to '{place}'")


def test_a_place_that_cannot_be_written_is_one_sentence(
    densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path
) -> None:
    result = densephrases("eval", "reading", small_squad, "--model", exported, "--predictions", tmp_path)
    assert result.code == 2
    assert result.err.strip().splitlines()[-1] == f"Error: '{tmp_path}' cannot be used: Is a directory."
