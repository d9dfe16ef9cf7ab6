"""From a recipe to an exported model that answers, all by commands."""

import json
import shutil
from pathlib import Path

import pytest

from densephrases.evaluate.datasets import sample_path

from .conftest import Command


@pytest.fixture
def models(tiny_base: Path, tmp_path: Path) -> Path:
    shutil.copytree(tiny_base, tmp_path / "models" / "tiny")
    return tmp_path / "models"


def test_from_reader_to_answers(
    densephrases: Command, recipe: Path, models: Path, small_squad: Path, tmp_path: Path
) -> None:
    places = ["--data", small_squad.parent, "--models", models, "--cpu"]
    run = tmp_path / "run"

    taught = densephrases("train", "reader", recipe, "--out", models / "reader", *places)
    assert taught.code == 0, taught.err
    assert "exact match" in taught.err
    assert f"Model saved in {models / 'reader'}" in taught.err.replace("\n", "")

    trained = densephrases("train", "phrases", recipe, "--out", run, *places, "--set", "loop.warmup=0.5")
    assert trained.code == 0, trained.err
    assert trained.out == ""
    assert "77 questions" in trained.err
    assert len(list((models / "reader").glob("logits-*.safetensors"))) == 1
    assert json.loads((run / "recipe.json").read_text())["loop"]["warmup"] == 0.5
    log = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert log[0]["train"].keys() >= {"single", "distill", "negative", "filter", "loss"}
    assert "exact_match" in log[-1]["finished"]

    exported = densephrases("export", run, "--out", tmp_path / "exported")
    assert exported.code == 0, exported.err
    assert "fp32 and int8" in exported.out

    for model, runtime in ((run, "torch"), (tmp_path / "exported", "onnx")):
        result = densephrases("eval", "reading", sample_path(), "--model", model, "--runtime", runtime, "--json")
        assert result.code == 0, result.err
        assert json.loads(result.out)["questions"] == 77

    read = densephrases("eval", "reader", small_squad, "--model", models / "reader", "--json")
    assert json.loads(read.out)["questions"] == 10


def test_a_second_run_goes_on_where_the_first_was(
    densephrases: Command,
    recipe: Path,
    models: Path,
    small_squad: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["train", "phrases", recipe, "--data", small_squad.parent, "--models", models, "--cpu"]
    untaught = [*command, "--set", "teacher=null", "--set", "collection=false", "--set", "loop.checkpoint_every=1"]
    folder = tmp_path / "runs" / "tiny-phrases"
    assert densephrases(*untaught).code == 0
    steps = json.loads((folder / "checkpoint" / "position.json").read_text())["step"]
    lines = len((folder / "log.jsonl").read_text().splitlines())
    assert steps == 3
    again = densephrases(*untaught)
    assert again.code == 0
    added = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()[lines:]]
    assert [set(line) for line in added] == [{"step", "dev"}, {"finished"}], "nothing was left to learn"
    anew = densephrases(*untaught, "--no-resume")
    assert anew.code == 0
    assert sum("train" in json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()) == 2


def test_missing_teacher_is_said_before_any_training(
    densephrases: Command, recipe: Path, models: Path, small_squad: Path, tmp_path: Path
) -> None:
    places = ["--data", small_squad.parent, "--models", models, "--out", tmp_path / "run"]
    result = densephrases("train", "phrases", recipe, *places, "--cpu")
    assert result.code == 2
    assert f"'{models / 'reader'}'" in result.err.replace("\n", "")


def test_missing_dev_file_is_said_before_any_training(
    densephrases: Command, recipe: Path, models: Path, tmp_path: Path
) -> None:
    result = densephrases("train", "reader", recipe, "--data", tmp_path, "--models", models, "--out", tmp_path / "run")
    assert result.code == 2
    assert "dev.json' does not exist" in result.err.replace("\n", "")
