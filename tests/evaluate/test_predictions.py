"""Predictions as JSON lines, as a TREC run and in KILT's format."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from densephrases.data.kilt import read_kilt
from densephrases.data.questions import OpenQuestion
from densephrases.errors import DataError
from densephrases.evaluate.open_domain import OpenJudgement, OpenPrediction
from densephrases.evaluate.predictions import documents_of, open_predictions, run_lines
from densephrases.evaluate.retrieval import Ranking
from tests.evaluate.made_up import answer

ANSWERS = [answer("Eiffel", "my tower", score=3.0), answer("Paris", "paris", score=2.5), answer("he", "my tower")]
QUESTION = OpenQuestion("q 1", "who?", ("Eiffel",))
PREDICTION = OpenPrediction(OpenJudgement(QUESTION, True, 1, 1.0, Ranking((1, 0)), Ranking((1, 0))), ANSWERS)
NOTHING = OpenPrediction(OpenJudgement(QUESTION, False, None, 0.0, Ranking(()), Ranking(())), [])


def test_all_three(tmp_path: Path) -> None:
    lines, run, kilt = (tmp_path / name for name in ("lines.jsonl", "run.txt", "kilt.jsonl"))
    with open_predictions(lines, run, kilt, "phrase") as files:
        files.write(PREDICTION)
        files.write(NOTHING)
    first, second = (json.loads(line) for line in lines.read_text().splitlines())
    assert (first["id"], first["rank"], first["exact_match"], first["answerable"]) == ("q 1", 1, 1.0, True)
    assert [p["text"] for p in first["predictions"]] == ["Eiffel", "Paris", "he"]
    assert first["predictions"][1]["document"] == "paris"
    assert (second["rank"], second["exact_match"], second["predictions"]) == (None, 0.0, [])
    records = read_kilt(kilt)
    assert records[0].answers == ("Eiffel",)
    assert [d.id for d in records[0].evidence[0]] == ["my tower", "paris"]
    assert records[1].answers == ()


def test_a_run_of_verified_answers_is_ordered_by_rank() -> None:
    """Their scores are on another scale than those of the others."""
    verified = [replace(answer("Seine", "paris", score=1.0), verified=True), *ANSWERS]
    columns = [line.split(" ") for line in run_lines("q", verified, "phrase")]
    assert [(name, rank) for _, _, name, rank, *_ in columns] == [("paris", "1"), ("my%20tower", "2")]
    scores = [float(score) for *_, score, _ in columns]
    assert scores == sorted(scores, reverse=True)


def test_run_has_the_columns_of_trec(tmp_path: Path) -> None:
    with open_predictions(None, tmp_path / "run.txt", None, "phrase") as files:
        files.write(PREDICTION)
    found = [line.split() for line in (tmp_path / "run.txt").read_text().splitlines()]
    assert [line[:4] for line in found] == [["q%201", "Q0", "my%20tower", "1"], ["q%201", "Q0", "paris", "2"]]
    assert [float(line[4]) for line in found] == [3.0, 2.5]
    assert [line[5:] for line in found] == [["densephrases"]] * 2


def test_run_of_passages_names_where_they_begin() -> None:
    found = [answer("a", "d", start=0), answer("b", "d", start=40)]
    assert [line.split()[2] for line in run_lines("q", found, "passage")] == ["d@0", "d@40"]


def test_documents_stand_where_their_best_answer_does() -> None:
    assert [d.id for d in documents_of(ANSWERS)] == ["my tower", "paris"]


def test_missing_folders_are_told_of_before_the_work(tmp_path: Path) -> None:
    with (
        pytest.raises(DataError, match="its folder does not exist"),
        open_predictions(None, None, tmp_path / "no" / "kilt.jsonl", "phrase"),
    ):
        pass
