"""From a generator's recipe to filtered questions in training, all by commands."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from densephrases.data.squad import read_squad, sample_path, write_squad
from densephrases.nn.reader import Reader

from .conftest import Command

RECIPE = """
from densephrases.data.squad import sample_path
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.phrases.recipe import Architecture, PhraseRecipe
from densephrases.train.phrases.sampling import BatchPlan
from densephrases.train.question_generator import QuestionRecipe


def questions(data, models):
    return QuestionRecipe(
        base=models / "writer", train=(sample_path(),), dev=data / "dev.json", batch_size=16, dev_questions=4,
        context_tokens=24, question_tokens=40, loop=LoopConfig(epochs=6, learning_rate=1e-2, checkpoint_every=None),
    )


def phrases(data, models):
    return PhraseRecipe(
        base=models / "tiny", train=(sample_path(), data / "kept.json"), dev=data / "dev.json",
        architecture=Architecture(passage_tokens=96, overlap=16),
        batches=BatchPlan(questions=24, questions_per_passage=4),
        annotated_from=1, prebatch_from=1, collection=False,
        loop=LoopConfig(epochs=2, learning_rate=1e-3, checkpoint_every=None),
    )
"""


def test_from_generator_to_training(
    densephrases: Command, tiny_base: Path, tiny_writer: Path, small_squad: Path, tmp_path: Path
) -> None:
    models, data, recipe = tmp_path / "models", tmp_path / "data", tmp_path / "tiny.py"
    shutil.copytree(tiny_writer, models / "writer")
    shutil.copytree(tiny_base, models / "tiny")
    Reader.from_base(tiny_base, passage_tokens=96, overlap=16).save_pretrained(models / "reader")
    data.mkdir()
    shutil.copy(small_squad, data / "dev.json")
    recipe.write_text(RECIPE)
    places = ["--data", data, "--models", models, "--cpu"]

    trained = densephrases("train", "questions", recipe, "--out", models / "generator", *places)
    assert trained.code == 0, trained.err
    assert "rouge l" in trained.err
    assert trained.err.count("(asked: ") == 3
    assert "loss" in json.loads((models / "generator" / "log.jsonl").read_text().splitlines()[-1])["finished"]

    source = ["--passages", sample_path(), "--kind", "dates", "--kind", "numbers"]
    made = densephrases(
        *("generate", "questions", *source, "--model", models / "generator", "--out", data / "made.json"),
        *("--per-passage", "3", "--sample", "--cpu"),
    )
    assert made.code == 0, made.err
    assert "name them with --exclude" in made.err
    assert f"in {data / 'made.json'}" in made.out
    assert all(q.generated for p in read_squad(data / "made.json") for q in p.questions)

    filtered = densephrases(
        *("generate", "filter", data / "made.json", "--reader", models / "reader", "--out", data / "kept.json"),
        *("--f1", "0.001", "--json", "--cpu"),
    )
    if "No question of" in filtered.err:  # a reader and a generator that know nothing may agree on nothing
        shutil.copy(data / "made.json", data / "kept.json")
    else:
        assert filtered.code == 0, filtered.err
        types = json.loads(filtered.out)["types"]
        assert types["all"]["questions"] >= types["all"]["passed"] > 0

    mixed = densephrases("train", "phrases", recipe, "--out", tmp_path / "phrases", *places)
    assert mixed.code == 0, mixed.err


def test_answers_apart(densephrases: Command, tmp_path: Path, small_squad: Path) -> None:
    out = tmp_path / "answers.jsonl"
    command = ["generate", "answers", "--passages", sample_path(), "--kind", "dates", "--out", out]
    found = densephrases(*command, "--exclude", small_squad)
    assert found.code == 0, found.err
    assert "DATE_PHRASE" in found.out
    assert "2 left out by title" in " ".join(found.err.split())
    again = densephrases(*command, "--exclude", small_squad)
    assert "found before" in again.err
    other = densephrases(*command)
    assert "found before" not in other.err
    assert "name them with --exclude" in " ".join(other.err.split())


def test_passages_for_questions_without_any(densephrases: Command, tiny_base: Path, tmp_path: Path) -> None:
    asked, found, dev = tmp_path / "asked.jsonl", tmp_path / "found.json.gz", tmp_path / "dev.jsonl"
    known = [q for p in read_squad(sample_path()) for q in p.questions]
    rows = [{"id": q.id, "question": q.text, "answers": q.gold_texts} for q in known]
    asked.write_text("".join(json.dumps(row) + "\n" for row in rows))
    dev.write_text(json.dumps(rows[0]))
    command = ["generate", "distant", asked, "--passages", sample_path(), "--exclude", dev, "--out", found]
    told = densephrases(*command, "--candidates", "9", "--per-question", "2", "--negatives", "1", "--no-resume")
    assert told.code == 0, told.err
    assert "77 questions checked, 1 left out by their text" in " ".join(told.err.split())
    assert "DEBUG" not in told.err
    triples = sum(len(p.questions) for p in read_squad(found))
    assert told.out.startswith(f"{triples} triples for ")
    assert told.out.endswith("1 held out.\n")

    report = json.loads(densephrases(*command, "--json", "--limit", "5").out)
    assert (report["questions"], report["leaks"]["questions"]) == (5, 1)
    assert report["answered"] + report["unanswered"] == 4

    Reader.from_base(tiny_base, passage_tokens=96, overlap=16).save_pretrained(tmp_path / "reader")
    kept = tmp_path / "kept.json"
    filtered = densephrases(
        *("generate", "filter", found, "--reader", tmp_path / "reader", "--out", kept, "--f1", "0.0001", "--cpu"),
        *("--per-question", "1", "--json"),
    )
    if "No question of" not in filtered.err:  # a reader that knows nothing may be right nowhere
        assert filtered.code == 0, filtered.err
        assert json.loads(filtered.out)["negatives"] == sum(not p.questions for p in read_squad(kept)) > 0


def test_questions_are_stripped_and_joined(densephrases: Command, tmp_path: Path) -> None:
    original = [
        replace(p, questions=tuple(replace(q, generated=True, answer_type="DATE") for q in p.questions))
        for p in read_squad(sample_path())
    ]
    made, stripped, again = tmp_path / "made.json", tmp_path / "q.jsonl.xz", tmp_path / "again.json.gz"
    write_squad(made, original)
    write_squad(tmp_path / "first.json", original[:1])
    total = sum(len(p.questions) for p in original)

    left = densephrases("generate", "strip-passages", made, "--out", stripped)
    assert (left.code, left.out) == (0, f"{total} questions about {len(original)} passages in {stripped}.\n")
    back = densephrases("generate", "join-passages", stripped, "--passages", sample_path(), "--out", again)
    assert (back.code, back.out) == (0, f"{total} questions about {len(original)} passages in {again}.\n")
    assert [p.passage for p in read_squad(again)] == [p.passage for p in original]

    partly = densephrases("generate", "join-passages", stripped, "--passages", tmp_path / "first.json", "--out", again)
    assert partly.code == 0
    first, missing = partly.out.splitlines()
    assert first == f"{len(original[0].questions)} questions about 1 passage in {again}."
    rest = total - len(original[0].questions)
    assert missing == f"{rest} questions about {len(original) - 1} passages left out: not in first.json."


def test_questions_that_cannot_be_stripped_or_joined(densephrases: Command, tmp_path: Path) -> None:
    out = ["--out", tmp_path / "out.json"]
    for arguments, message in (
        (["join-passages", sample_path(), *out], "No passages were given"),
        (
            ["join-passages", sample_path(), "--passages", sample_path(), *out],
            "not a file of questions without passages",
        ),
        (["join-passages", tmp_path / "no.jsonl", "--passages", sample_path(), *out], "does not exist"),
        (["strip-passages", sample_path(), *out], "was not generated"),
        (["strip-passages", tmp_path / "no.json", *out], "does not exist"),
    ):
        result = densephrases("generate", *arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("Error: ")
        assert message in " ".join(result.err.split())
        assert len(result.err.splitlines()) == 1


def test_a_mistake_is_one_sentence_also_where_a_bar_would_be(densephrases: Command, tmp_path: Path) -> None:
    missing = tmp_path / "no.json"
    result = densephrases("generate", "filter", missing, "--reader", tmp_path, "--out", tmp_path / "kept.json", "--cpu")
    assert (result.code, result.out) == (2, "")
    assert result.err == f"Error: Data file '{missing}' does not exist; give the path of a SQuAD JSON file.\n"


@pytest.mark.parametrize("arguments", [["--beams", "2", "--sample"], ["--per-passage", "0"], ["--top-p", "2"]])
def test_impossible_settings(densephrases: Command, tmp_path: Path, arguments: list[str]) -> None:
    folder = tmp_path / "generator"
    folder.mkdir()
    (folder / "generator.json").write_text(
        '{"base": "x", "context_tokens": 9, "title_tokens": 0, "question_tokens": 9, "end": "x", "schema_version": 1}'
    )
    command = ["generate", "questions", "--model", folder, "--out", tmp_path / "x", "--answers", tmp_path / "no.jsonl"]
    result = densephrases(*command, *arguments)
    assert result.code == 2
    assert result.err.startswith("Error: ")
