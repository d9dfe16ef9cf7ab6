"""`densephrases eval` on a random model: what it prints and what it writes."""

import json
import re
import shutil
from pathlib import Path

import pytest

from densephrases.cli.eval import reading as evaluate
from densephrases.data.squad import sample_path
from densephrases.evaluate.tune import filter_threshold as filtering
from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve
from densephrases.nn.reader import Reader
from densephrases.quantize.codebooks import CODEBOOKS_FILE, ProductQuantizer
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


def test_filter_table(densephrases: Command, exported: Path, small_squad: Path) -> None:
    result = densephrases("eval", "filter", small_squad, "--model", exported)
    assert result.code == 0
    assert result.out.count("chosen") == 1
    assert "none" in result.out


def test_filter_stores_its_threshold(densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(exported, model)
    before = ModelConfig.load(model)
    result = densephrases("eval", "filter", small_squad, "--model", model, "--write", "--json")
    values = json.loads(result.out)
    after = ModelConfig.load(model)
    assert len(values["rows"]) == 17
    assert values["chosen"] in values["rows"]
    assert before.filter_threshold is None
    assert after.filter_threshold == values["chosen"]["threshold"]
    assert after.filter_threshold is not None
    assert after == before.with_threshold(after.filter_threshold)


def test_length_stores_the_chosen_penalty(
    densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(exported, model)
    before = ModelConfig.load(model)
    result = densephrases("eval", "length", small_squad, "--model", model, "--write", "--json")
    values = json.loads(result.out)
    assert values["chosen"] in values["rows"]
    assert ModelConfig.load(model) == before.with_length_penalty(values["chosen"]["penalty"])
    shown = densephrases("eval", "length", small_squad, "--model", model)
    assert "penalty a character" in shown.out
    assert shown.out.count("chosen") == 1


def test_words_stores_the_chosen_weight(
    densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path
) -> None:
    model, index = tmp_path / "model", tmp_path / "index"
    shutil.copytree(exported, model)
    before = ModelConfig.load(model)
    result = densephrases("eval", "words", small_squad, "--model", model, "--index", index, "--write", "--json")
    values = json.loads(result.out)
    assert values["chosen"] in values["rows"]
    assert ModelConfig.load(model) == before.with_lexical_weight(values["chosen"]["weight"])
    shown = densephrases("eval", "words", small_squad, "--model", model, "--index", index, "--questions", "3")
    assert "3 questions" in shown.out or "2 questions" in shown.out
    assert shown.out.count("chosen") == 1


def test_a_code_is_stored_when_asked_for(
    densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(exported, model)
    shown = densephrases("eval", "code", small_squad, "--model", model)
    assert "bytes a kept token" in shown.out
    assert not (model / CODEBOOKS_FILE).exists(), "not unasked"
    refused = densephrases("eval", "reading", small_squad, "--model", model, "--quantizer", "pq")
    assert refused.code == 2
    assert "eval code DATA" in refused.err
    values = json.loads(densephrases("eval", "code", small_squad, "--model", model, "--write", "--json").out)
    assert values.keys() == {"dimensions", "row_bytes", "passage_bytes", "score_error"}
    assert ProductQuantizer.read(model, values["dimensions"]) is not None
    assert densephrases("eval", "reading", small_squad, "--model", model, "--quantizer", "pq").code == 0


def test_filter_stores_that_no_threshold_is_good_enough(
    densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A threshold found for earlier weights must not stay."""
    model = tmp_path / "model"
    shutil.copytree(exported, model)
    plain = ModelConfig.load(model)
    plain.with_threshold(1.5).save(model)
    monkeypatch.setattr(filtering, "choose_threshold", lambda rows: next(row for row in rows if row.threshold is None))
    result = densephrases("eval", "filter", small_squad, "--model", model, "--json")
    assert json.loads(result.out)["chosen"]["threshold"] is None
    assert ModelConfig.load(model).filter_threshold == 1.5, "not unasked"
    result = densephrases("eval", "filter", small_squad, "--model", model, "--write", "--json")
    assert result.code == 0
    assert ModelConfig.load(model) == plain
    assert plain.filter_threshold is None


def test_filter_changes_nothing_unasked(densephrases: Command, exported: Path, small_squad: Path) -> None:
    before = (exported / "config.json").read_bytes()
    assert densephrases("eval", "filter", small_squad, "--model", exported, "--json").code == 0
    assert (exported / "config.json").read_bytes() == before


def test_reader(densephrases: Command, tiny_base: Path, small_squad: Path, tmp_path: Path) -> None:
    Reader.from_base(tiny_base, passage_tokens=96, overlap=16).save_pretrained(tmp_path)
    result = densephrases("eval", "reader", small_squad, "--model", tmp_path, "--json")
    assert json.loads(result.out).keys() == {"questions", "exact_match", "f1"}
    words = densephrases("eval", "reader", small_squad, "--model", tmp_path)
    assert re.fullmatch(r"10 questions: EM \d+\.\d\d, F1 \d+\.\d\d\n", words.out)


def test_a_phrase_model_is_no_reader(densephrases: Command, exported: Path, small_squad: Path) -> None:
    result = densephrases("eval", "reader", small_squad, "--model", exported)
    assert result.code == 2
    assert "of kind 'phrases', expected 'reader'" in result.err


def test_predictions_that_cannot_be_written_are_refused_before_the_work(
    densephrases: Command, exported: Path, small_squad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "_encode", lambda *_: pytest.fail("must not begin"))
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


def test_confidence_stores_its_weights(densephrases: Command, tmp_path: Path) -> None:
    """On the bundled model, which is right often enough to be fitted; the index is kept and found again."""
    model = tmp_path / "model"
    shutil.copytree(resolve("small"), model)
    ModelConfig.load(model).with_confidence(None).save(model)
    options = ["--model", model, "--index", tmp_path / "index", "--plot", tmp_path / "plot.png"]
    unanswerable = tmp_path / "unanswerable.json"
    unanswerable.write_text(sample_path().read_text().replace('"answers": [', '"is_impossible": true, "answers": ['))
    options += ["--absent", "0.5"]
    result = densephrases("eval", "confidence", sample_path(), *options, "--unanswerable", unanswerable, "--json")
    assert result.code == 0
    values = json.loads(result.out)
    answerable = values["questions"] - values["unanswerable"]
    assert values["unanswerable"] == answerable + round(0.5 * answerable) > 0
    assert ModelConfig.load(model).confidence is None, "nothing is stored unasked"
    assert (tmp_path / "plot.png").is_file()
    result = densephrases("eval", "confidence", sample_path(), *options[:4], "--write")
    assert result.code == 0
    assert "calibration error" in result.out
    weights = ModelConfig.load(model).confidence
    assert weights is not None
    assert weights.keys() == values["weights"].keys()
