"""From a recipe to an exported model that answers, all by commands."""

import json
import shutil
from pathlib import Path

import pytest

from densephrases.data.squad import sample_path

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


@pytest.fixture
def question_file(tmp_path: Path) -> Path:
    lines = [
        {"id": "1", "question": "who built the tower", "answers": ["Eiffel"]},
        {"id": "2", "question": "what city is on the river Seine", "answers": ["Paris"]},
        {"id": "3", "question": "when was it opened", "answers": ["1889|18th"], "regex": True},
        {"id": "4", "question": "who is it", "answers": ["nobody in particular"]},
    ]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_queries_as_a_task_of_the_same_model(
    densephrases: Command, index: Path, exported: Path, question_file: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    shutil.copytree(exported, model)
    command = ["train", "queries", "--index", index, "--data", question_file, "--dev", question_file, "--model", model]
    quick = ["--epochs", 3, "--learning-rate", 3e-3, "--top-k", 60, "--batch-size", 2, "--refresh-every", 1, "--cpu"]
    trained = densephrases(*command, "--out", model, "--task", "trex", *quick, "--set", "loop.warmup=0.5")
    assert trained.code == 0, trained.err
    place = model / "tasks" / "trex"
    assert f"Model saved in {place}" in trained.err.replace("\n", "")
    assert "skipped in the first epoch" in trained.err.replace("\n", " ")
    assert "exact match before:" in trained.err
    recipe = json.loads((place / "recipe.json").read_text())
    assert (recipe["loop"]["warmup"], recipe["loop"]["epochs"], recipe["top_k"]) == (0.5, 3, 60)

    answers = [
        densephrases("ask", index, "who built the tower", "--model", model, *task, "--json")
        for task in ([], ["--task", "trex"])
    ]
    assert [answer.code for answer in answers] == [0, 0], answers
    assert answers[0].out != answers[1].out
    unknown = densephrases("ask", index, "who", "--model", model, "--task", "web")
    assert unknown.code == 2
    assert "no task 'web': it has 'trex'" in unknown.err.replace("\n", " ")


def test_queries_begin_with_the_model_of_the_index(
    densephrases: Command, index: Path, question_file: Path, tmp_path: Path
) -> None:
    quick = ["--epochs", 1, "--top-k", 60, "--limit", 3, "--cpu"]
    command = ["train", "queries", "--index", index, "--data", question_file, *quick]
    assert densephrases(*command, "--out", tmp_path / "new").code == 0
    assert densephrases("ask", index, "who", "--model", tmp_path / "new").code == 0
    for wrong, sentence in (
        (["--task", "a b"], "'a b' is no name of a task"),
        (["--set", "speed=2"], "'speed' is not one of"),
        (["--dev", tmp_path / "nothing"], "nothing' does not exist"),
    ):
        result = densephrases(*command, "--out", tmp_path / "other", *wrong)
        assert result.code == 2
        assert sentence in result.err.replace("\n", " ")
    assert not (tmp_path / "other" / "config.json").exists()


def test_queries_cannot_share_a_backbone_that_they_do_not_have(
    densephrases: Command, index: Path, exported: Path, question_file: Path, tmp_path: Path
) -> None:
    command = [
        "train",
        "queries",
        "--index",
        index,
        "--data",
        question_file,
        "--model",
        exported,
        "--rank",
        16,
        "--cpu",
    ]
    for more, sentence in (
        (["--keep", question_file], "questions of this model have a backbone of their own"),
        (["--task", "trex"], "cannot be learned with rank"),
        (["--keep", tmp_path / "nothing"], "nothing' does not exist"),
    ):
        refused = densephrases(*command, "--out", tmp_path / "new", *more)
        assert refused.code == 2
        assert sentence in refused.err.replace("\n", " ")
    assert not (tmp_path / "new" / "config.json").exists()


def test_the_average_of_two_models(densephrases: Command, exported: Path, tmp_path: Path) -> None:
    result = densephrases("train", "average", exported, exported, "--out", tmp_path / "average")
    assert result.code == 0, result.err
    assert "Average of 2 models" in result.out
    assert (tmp_path / "average" / "model.safetensors").is_file()

    alone = densephrases("train", "average", exported, "--out", tmp_path / "alone")
    assert alone.code == 2
    assert "at least two models" in alone.err
    assert not (tmp_path / "alone").exists()
