"""`densephrases eval slots` on a random model."""

import json
from pathlib import Path

import pytest

from densephrases.data.kilt import read_kilt
from tests.cli.conftest import Command
from tests.cli.eval.test_open_domain import json_lines
from tests.cli.test_main import is_one_sentence

FACTS = [
    {"id": "1", "input": "tower [SEP] built by", "output": [{"answer": "Eiffel", "provenance": [{"document": name}]}]}
    for name in ("tower.txt",)
] + [{"id": "2", "input": "Rome [SEP] country", "output": [{"answer": "Italy", "provenance": [{"document": "rome"}]}]}]


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    return json_lines(tmp_path / "facts.jsonl", FACTS)


def test_slots(densephrases: Command, made_index: Path, facts: Path, tmp_path: Path) -> None:
    result = densephrases("eval", "slots", made_index, facts, "--json", "--kilt", tmp_path / "kilt.jsonl")
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["facts"], found["facts_in_file"], found["recall_at_5"]) == (1, 2, 100.0)
    assert found["all_facts"]["recall_at_5"] == 50.0
    assert {"accuracy", "f1", "r_precision", "kilt_accuracy", "kilt_f1"} <= found.keys()
    written = read_kilt(tmp_path / "kilt.jsonl")
    assert [record.input for record in written] == ["tower [SEP] built by", "Rome [SEP] country"]
    assert len(written[0].evidence[0]) == 3


def test_slots_for_a_person(densephrases: Command, made_index: Path, facts: Path) -> None:
    result = densephrases("eval", "slots", made_index, facts, "--prefer-titles")
    assert result.code == 0
    assert "1 fact of 2 have their document among the index's 3 documents" in result.out
    assert "KILT-AC" in result.out


def test_slots_of_documents_elsewhere(densephrases: Command, made_index: Path, tmp_path: Path) -> None:
    path = json_lines(tmp_path / "facts.jsonl", FACTS[1:])
    result = densephrases("eval", "slots", made_index, path)
    assert is_one_sentence(result)
    assert "'rome'" in result.err


def test_unknown_tasks_are_refused(densephrases: Command, made_index: Path, facts: Path) -> None:
    result = densephrases("eval", "slots", made_index, facts, "--task", "nosuch")
    assert is_one_sentence(result)
    assert "nosuch" in result.err


def test_facts_without_answers_are_only_predicted(densephrases: Command, made_index: Path, tmp_path: Path) -> None:
    path = json_lines(tmp_path / "test.jsonl", [{"id": "1", "input": "tower [SEP] built by"}])
    refused = densephrases("eval", "slots", made_index, path)
    assert is_one_sentence(refused)
    assert "--kilt FILE" in refused.err
    result = densephrases("eval", "slots", made_index, path, "--kilt", tmp_path / "kilt.jsonl")
    assert (result.code, result.out) == (0, "")
    assert len(read_kilt(tmp_path / "kilt.jsonl")) == 1
