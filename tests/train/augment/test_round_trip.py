"""The round-trip filter: only what the reader answers as it was made stays, and all is counted."""

from pathlib import Path

import pytest
import torch

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, read_squad, write_squad
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.reading import Prediction
from densephrases.nn.reader import Reader
from densephrases.text.passages import Passage
from densephrases.train.augment import round_trip as roundtrip
from densephrases.train.augment.round_trip import FilterReport, filter_questions, passing

TEXT = "the tower was built in 1889 by a man of paris"


def generated(name: str, answer: str, kind: str) -> Question:
    return Question(name, f"{name}?", (GoldAnswer(answer, TEXT.index(answer)),), True, kind)


PASSAGES = [
    QuestionedPassage(
        Passage(TEXT, "a"), 0, (generated("when", "1889", "DATE"), generated("who", "a man of paris", "PERSON"))
    ),
    QuestionedPassage(Passage(TEXT, "b"), 1, (generated("when", "1889", "DATE"),)),
]


def predicted(*answers: str) -> list[Prediction]:
    questions = [(number, q) for number, p in enumerate(PASSAGES) for q in p.questions]
    return [Prediction(q, text, number, 0.0) for (number, q), text in zip(questions, answers, strict=True)]


@pytest.mark.parametrize(
    ("min_f1", "kept"), [(None, [["when"]]), (0.6, [["when", "who"]]), (0.9, [["when"]]), (1.0, [["when"]])]
)
def test_which_pass(min_f1: float | None, kept: list[list[str]]) -> None:
    report = FilterReport()
    found = passing(PASSAGES, predicted("1889.", "the man of", "built"), min_f1, report)
    assert [[q.id for q in p.questions] for p in found] == kept
    assert report.rows()[0] == ("DATE", 2, 1)
    assert report.rows()[-1] == ("all", 3, sum(map(len, kept)))


def test_a_file_is_filtered(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)  # of other random readers some answer with an article, which is no word in common
    Reader.from_base(tiny_base, passage_tokens=96, overlap=16).save_pretrained(tmp_path / "reader")
    whole = QuestionedPassage(Passage(TEXT, "b"), 1, (generated("what", TEXT, "LAW"),))  # any phrase is part of it
    write_squad(tmp_path / "made.json", [PASSAGES[0], whole])
    steps: list[int] = []
    monkeypatch.setattr(roundtrip, "PASSAGES_AT_ONCE", 1)
    report = filter_questions(
        tmp_path / "made.json", tmp_path / "reader", tmp_path / "kept.json", 1e-9, cpu=True, advance=steps.append
    )
    assert steps == [1, 1]
    assert report.read == {"DATE": 1, "PERSON": 1, "LAW": 1}
    assert report.passed["LAW"] == 1
    found = read_squad(tmp_path / "kept.json")
    assert sum(len(p.questions) for p in found) == report.passed.total() > 0
    assert all(q.generated for p in found for q in p.questions)


def test_nothing_passes(tiny_base: Path, tmp_path: Path) -> None:
    Reader.from_base(tiny_base, passage_tokens=96, overlap=16).save_pretrained(tmp_path / "reader")
    write_squad(tmp_path / "made.json", PASSAGES)
    where = (tmp_path / "made.json", tmp_path / "reader", tmp_path / "kept.json")
    with pytest.raises(DataError, match="No question of"):
        filter_questions(*where, exclude=[tmp_path / "made.json"], cpu=True)
    with pytest.raises(ConfigError, match="f1=2"):
        filter_questions(*where, 2, cpu=True)
    assert not (tmp_path / "kept.json").exists()
