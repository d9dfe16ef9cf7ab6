"""From files or lists of questions to a model folder that asks an index it was not built with."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from densephrases import Document, PhraseIndex
from densephrases.checksums import remove_checksums, write_checksums
from densephrases.data.matching.em_f1 import exact_match
from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError, DataError, ModelError
from densephrases.model.config import ModelConfig
from densephrases.model.load import load
from densephrases.nn.onnx.export import export_model
from densephrases.nn.phrase_model import PhraseModel
from densephrases.search.confidence import Calibration
from densephrases.train.fit import FitProgress, open_questions
from densephrases.train.loop.loop import LoopConfig
from densephrases.train.queries.recipe import QueryRecipe, train_queries
from tests.index.made_up import HashEncoder
from tests.train.conftest import FACTS

QUESTIONS = [question for _, _, asked in FACTS for question, _ in asked]
ANSWERS = [answer for _, _, asked in FACTS for _, answer in asked]
DOCUMENTS = [Document(f"d{n}", text, f"title {n}") for n, (_, text, _) in enumerate(FACTS)]
QUICK: dict[str, Any] = {"epochs": 12, "learning_rate": 3e-3, "batch_size": 4, "top_k": 30, "cpu": True}


@pytest.fixture(scope="module")
def model(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As the bundled model is: exported in int8, with one backbone for all."""
    folder = tmp_path_factory.mktemp("model") / "small"
    export_model(PhraseModel.from_base(tiny_base, share=True, max_words=6), folder, ("int8",))
    return folder


@pytest.fixture(scope="module")
def index_folder(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "facts"
    PhraseIndex.create(folder, DOCUMENTS, model=model, filter_threshold=None)
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    lines = [
        {"id": str(n), "question": q, "answers": [a]} for n, (q, a) in enumerate(zip(QUESTIONS, ANSWERS, strict=True))
    ]
    path = tmp_path / "facts.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def recipe_of(index: Path, model: Path, data: Path, task: str | None = None) -> QueryRecipe:
    loop = LoopConfig(epochs=12, learning_rate=3e-3, evaluate_every=1, checkpoint_every=None)
    settings = {"batch_size": 4, "top_k": 30, "processes": 1, "loop": loop}
    return QueryRecipe(index=index, model=model, train=(data,), dev=data, task=task, **settings)  # type: ignore[arg-type]


def answered(index: PhraseIndex) -> float:
    """Percent of the questions whose first answer is right."""
    found = [answers[0].text for answers in index.search(QUESTIONS, 1)]
    return 100 * sum(map(exact_match, found, ANSWERS)) / len(ANSWERS)


def test_from_files_to_a_new_model_folder(index_folder: Path, model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapted"
    manifest = (index_folder / "manifest.json").read_bytes()
    outcome = train_queries(recipe_of(index_folder, model, data), out, tmp_path / "run", cpu=True)
    before = answered(PhraseIndex.open(index_folder))
    after = answered(PhraseIndex.open(index_folder, out))
    assert after > before + 20
    assert after == pytest.approx(outcome.scores["exact_match"], abs=10), "half floats may turn a close decision"
    assert load(out).fingerprint == load(model).fingerprint
    assert (index_folder / "manifest.json").read_bytes() == manifest
    assert "facts.jsonl" in (out / "README.md").read_text()
    PhraseIndex.create(tmp_path / "second", DOCUMENTS, model=out)
    assert len(PhraseIndex.open(tmp_path / "second", model)) == len(DOCUMENTS)


def test_tasks_in_the_same_model_folder(index_folder: Path, model: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    before = answered(PhraseIndex.open(index_folder))
    train_queries(recipe_of(index_folder, model, data, "facts"), out, out / "tasks" / "facts", cpu=True)
    train_queries(recipe_of(index_folder, out, data, "again"), out, out / "tasks" / "again", cpu=True)
    index = PhraseIndex.open(index_folder, out)
    assert index.encoder.tasks == ["again", "facts"]
    assert answered(index) == before
    facts = index.with_task("facts")
    assert answered(facts) == answered(PhraseIndex.open(index_folder, out, "facts")) > before + 20
    assert answered(facts.with_task(None)) == before
    with pytest.raises(ModelError, match="no task 'trex': it has 'again', 'facts'"):
        index.with_task("trex")
    with pytest.raises(ConfigError, match="is the model itself"):
        train_queries(recipe_of(index_folder, out, data), out, out, cpu=True)


def test_three_lines(index_folder: Path, tmp_path: Path) -> None:
    index = PhraseIndex.open(index_folder)
    before = answered(index)
    adapted = index.fit(QUESTIONS, ANSWERS, dev=(QUESTIONS, [[a, "other"] for a in ANSWERS]), **QUICK)
    adapted.save(tmp_path / "adapted")
    assert adapted.scores["exact_match_before"] <= before + 10
    assert answered(index) == pytest.approx(adapted.scores["exact_match"])
    assert answered(index) > before + 20
    assert "questions" not in str(adapted.coverage)
    saved = PhraseIndex.open(index_folder, tmp_path / "adapted")
    assert answered(saved) == pytest.approx(answered(index), abs=10)
    index.add([Document("new", "it is a new city", "new")])
    assert index.document("new") is not None
    index.delete(["new"])


def test_it_may_go_on_and_be_saved_as_tasks(index_folder: Path, model: Path, tmp_path: Path) -> None:
    index = PhraseIndex.open(index_folder)
    quick = QUICK | {"epochs": 1, "hold_out": 0.0}
    first = index.fit(QUESTIONS, ANSWERS, **quick)
    weights = first.encoder.encode_questions(QUESTIONS).start_BD
    second = index.fit(QUESTIONS, ANSWERS, **quick)
    assert first.scores.keys().isdisjoint({"exact_match"})
    assert np.abs(second.encoder.encode_questions(QUESTIONS).start_BD - weights).max() > 1e-3
    np.testing.assert_array_equal(first.encoder.encode_questions(QUESTIONS).start_BD, weights)
    first.save(tmp_path / "model", "first")
    second.save(tmp_path / "model", task="second")
    assert load(tmp_path / "model").tasks == ["first", "second"]
    reopened = PhraseIndex.open(index_folder, tmp_path / "model", "first")
    assert np.abs(reopened.encoder.encode_questions(QUESTIONS).start_BD - weights).max() < 0.05


CALIBRATION = Calibration(intercept=-1.0, score=0.1, gap=0.5, share=0.3).to_dict()


@pytest.fixture
def sure_model(model: Path, tmp_path: Path) -> Path:
    """With confidences, as the bundled one has."""
    folder = Path(shutil.copytree(model, tmp_path / "sure"))
    remove_checksums(folder)
    ModelConfig.load(folder).with_confidence(CALIBRATION).save(folder)
    write_checksums(folder)
    return folder


def many(count: int) -> tuple[list[str], list[str]]:
    """Questions and answers, over and over."""
    pairs = list(islice(cycle(zip(QUESTIONS, ANSWERS, strict=True)), count))
    return [question for question, _ in pairs], [answer for _, answer in pairs]


def test_harm_is_noticed_and_undone(index_folder: Path, sure_model: Path) -> None:
    """Of 44 pairs nine are held out; steps this large forget everything."""
    index = PhraseIndex.open(index_folder, sure_model)
    questions, _ = many(44)
    right = [found[0].text for found in index.search(questions, 1)]
    adapted = index.fit(questions, right, **(QUICK | {"epochs": 2, "learning_rate": 10.0}))
    assert adapted.coverage.questions == 35
    assert adapted.scores["exact_match"] == adapted.scores["exact_match_before"] > 60, "but for int8"
    assert adapted.encoder.config.confidence == CALIBRATION
    after = [found[0] for found in index.search(questions, 1)]
    assert sum(answer.text == text for answer, text in zip(after, right, strict=True)) > 0.6 * len(right)
    assert all(answer.confidence is not None for answer in after)


@pytest.mark.parametrize(("count", "refitted"), [(66, False), (280, True)])
def test_confidence_stays_and_fits_the_new_scores(
    index_folder: Path, sure_model: Path, count: int, refitted: bool
) -> None:
    index = PhraseIndex.open(index_folder, sure_model)
    before = answered(index)
    adapted = index.fit(*many(count), **(QUICK | {"epochs": 6}))
    assert answered(index) > before
    confidence = adapted.encoder.config.confidence
    assert confidence is not None
    assert (confidence != CALIBRATION) == refitted
    assert all(answers[0].confidence is not None for answers in index.search(QUESTIONS, 1))


def test_progress_is_told_and_threads_are_few(index_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[FitProgress, int]] = []
    before = torch.get_num_threads()
    index = PhraseIndex.open(index_folder)
    index.fit(
        QUESTIONS, ANSWERS, progress=lambda done: told.append((done, torch.get_num_threads())), **QUICK | {"epochs": 3}
    )
    assert torch.get_num_threads() == before
    assert max(threads for _, threads in told) <= max((os.cpu_count() or 1) // 2, 1)
    assert any(done.scores for done, _ in told)
    last = [done for done, _ in told if done.loss is not None][-1]
    assert str(last).startswith(f"step {last.steps} of {last.steps}: loss ")


def test_a_model_in_memory(tiny_base: Path, tmp_path: Path) -> None:
    model = PhraseModel.from_base(tiny_base, max_words=6)
    index = PhraseIndex.create(tmp_path / "index", DOCUMENTS, model=model.encoder(), filter_threshold=None)
    adapted = index.fit(QUESTIONS, ANSWERS, **(QUICK | {"epochs": 2}), hold_out=0.0)
    with pytest.raises(ModelError, match="save it without a task"):
        adapted.save(tmp_path / "saved", "facts")
    adapted.save(tmp_path / "saved")
    saved = PhraseModel.from_pretrained(tmp_path / "saved")
    assert answered(PhraseIndex(index.folder, saved.encoder())) == answered(index)


def test_mistakes_are_said(index_folder: Path, tmp_path: Path, data: Path) -> None:
    index = PhraseIndex.open(index_folder)
    with pytest.raises(DataError, match="There are 2 questions and 1 answers; expected two lists of the same length"):
        index.fit(["who?", "what?"], ["paris"])
    with pytest.raises(DataError, match="There are 1 questions"):
        index.fit("who?", ["paris"])
    with pytest.raises(ConfigError, match="'rate' is no setting of fit; expected one of target, epochs, learning_rate"):
        index.fit(["who?"], ["paris"], rate=1.0)
    hashed = PhraseIndex.create(tmp_path / "hashed", DOCUMENTS, model=HashEncoder())
    with pytest.raises(ModelError, match="HashEncoder has no weights to train"):
        hashed.fit(["who?"], ["paris"])
    with pytest.raises(DataError, match=r"'.*nothing\.jsonl' does not exist"):
        train_queries(recipe_of(index_folder, tmp_path, tmp_path / "nothing.jsonl"), tmp_path / "out", tmp_path)


def test_without_torch_the_extra_is_named(index_folder: Path) -> None:
    script = (
        "import sys; sys.modules['torch'] = None\n"
        "from densephrases import PhraseIndex\n"
        f"PhraseIndex.open({str(index_folder)!r}).fit(['who?'], ['paris'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: S603
    assert "MissingExtraError: PhraseIndex.fit needs the package 'torch', which is not installed" in done.stderr
    assert done.stderr.strip().endswith("pip install 'densephrases[train]'")


def test_one_answer_or_several() -> None:
    assert open_questions(["q"], [["a", "b"]]) == [OpenQuestion("1", "q", ("a", "b"))]
    assert open_questions(["q", "r"], ["a", "b"])[1] == OpenQuestion("2", "r", ("b",))


def test_fit_beside_the_shared_backbone(index_folder: Path, model: Path, tmp_path: Path) -> None:
    """Fitted twice, saved, and opened again; the model grows by its matrices alone."""
    index = PhraseIndex.open(index_folder, load(model))
    settings = QUICK | {"epochs": 6, "learning_rate": 1e-2, "hold_out": 0.0}
    for _ in range(2):
        adapted = index.fit(QUESTIONS, ANSWERS, **settings, rank=16)
    adapted.save(tmp_path / "new")
    again = PhraseIndex.open(index_folder, load(tmp_path / "new"))
    found = [answers[0].text for answers in index.search(QUESTIONS, 1)]
    same = [answers[0].text for answers in again.search(QUESTIONS, 1)]
    assert np.mean([a == b for a, b in zip(found, same, strict=True)]) > 0.8, "but for int8"
    assert ModelConfig.load(tmp_path / "new").share
    with pytest.raises(ConfigError, match="a backbone of their own"):
        PhraseIndex.open(index_folder, _separate(index_folder, tmp_path)).fit(QUESTIONS, ANSWERS, **settings, rank=16)


def test_questions_beside_the_shared_backbone_from_files(
    index_folder: Path, model: Path, data: Path, tmp_path: Path
) -> None:
    recipe = QueryRecipe(
        index=index_folder,
        model=model,
        train=(data,),
        dev=data,
        keep=(data,),
        keep_limit=3,
        rank=16,
        layers=1,
        top_k=30,
        batch_size=4,
        processes=1,
        loop=LoopConfig(epochs=12, learning_rate=1e-2, checkpoint_every=None, evaluate_every=1),
    )
    outcome = train_queries(recipe, tmp_path / "new", tmp_path / "run", cpu=True)
    assert outcome.scores["exact_match"] > outcome.scores["exact_match_before"]
    config = ModelConfig.load(tmp_path / "new")
    assert (config.share, config.question_rank, config.question_layers) == (True, 16, 1)
    assert config.fingerprint == ModelConfig.load(model).fingerprint
    with pytest.raises(ConfigError, match="task='trex' cannot be learned with rank"):
        train_queries(replace(recipe, task="trex"), tmp_path / "new", tmp_path / "run", cpu=True)


def _separate(index_folder: Path, tmp_path: Path) -> Any:
    index = PhraseIndex.open(index_folder)
    index.fit(QUESTIONS, ANSWERS, **QUICK | {"epochs": 1, "hold_out": 0.0}).save(tmp_path / "separate")
    return load(tmp_path / "separate")
