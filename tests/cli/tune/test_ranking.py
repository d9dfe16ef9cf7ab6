"""`densephrases tune ranking` on a copy of the bundled model: a random one finds no right answers to rank."""

import json
import shutil
from pathlib import Path

import pytest

from densephrases.data.squad import sample_path
from densephrases.model.config import ModelConfig
from densephrases.model.folders import resolve
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.text.documents import Document
from tests.cli.conftest import Command


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(resolve("small"), tmp_path / "model"))


def test_the_ranking_is_stored(densephrases: Command, model: Path, tmp_path: Path) -> None:
    before = ModelConfig.load(model)
    options = ["--index", tmp_path / "index", "--folds", "2"]
    shown = densephrases("tune", "ranking", model, sample_path(), *options, "--dry-run")
    assert "EM after" in shown.out
    assert "tune confidence" not in shown.out
    assert ModelConfig.load(model) == before
    values = json.loads(densephrases("tune", "ranking", model, sample_path(), *options, "--json").out)
    assert ModelConfig.load(model) == before.with_ranking(values["weights"])
    assert PhraseRanking.from_dict(values["weights"]).to_dict() == values["weights"]
    assert sum(fold["questions"] for fold in values["folds"]) == values["questions"]
    again = densephrases("tune", "ranking", model, sample_path(), *options, "--l2", str(values["l2"]), "--json")
    assert json.loads(again.out) == values  # whatever ranking the model has


def test_open_questions(densephrases: Command, model: Path, tmp_path: Path) -> None:
    document = Document("ada", "Ada Lovelace wrote the first program in London in 1843.", "Ada Lovelace")
    PhraseIndex.create(tmp_path / "open", [document], model=str(model))
    lines = [
        {"question": "When did Ada Lovelace write the first program?", "answer": ["1843"]},
        {"question": "Where did Ada Lovelace write the first program?", "answer": ["London"]},
    ]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, lines)))
    options = ["--open", questions, "--open-index", tmp_path / "open", "--json", "--dry-run", "--questions", "20"]
    values = json.loads(densephrases("tune", "ranking", model, sample_path(), *options).out)
    assert {row["part"]: row["questions"] for row in values["files"]}["questions.jsonl"] == 2
    refused = densephrases("tune", "ranking", model, sample_path(), "--open", questions)
    assert refused.code == 2
    assert "--open and --open-index belong together" in refused.err


def test_a_bundled_model_is_refused(densephrases: Command) -> None:
    refused = densephrases("tune", "ranking", "small", sample_path())
    assert refused.code == 2
    assert "small" in refused.err
