"""The round-trip filter: only what the reader answers as it was made stays, and all is counted."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, read_squad, write_squad
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.reading import Prediction
from densephrases.nn.reader import Reader
from densephrases.text.passages import Passage
from densephrases.train.augment import round_trip as roundtrip
from densephrases.train.augment.round_trip import FilterReport, confirmed_question, filter_questions, matches, passing

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


def test_a_generated_question_is_not_changed() -> None:
    question = replace(generated("who", "man", "PERSON"), aliases=("Eiffel", "paris"))
    assert confirmed_question(Prediction(question, "paris", 0, 1.0, TEXT.index("paris"))) == question


def found(name: str, answer: str, *aliases: str, ambiguous: bool = False, text: str = "") -> Question:
    """By distant supervision."""
    return Question(name, text or f"{name}?", (GoldAnswer(answer, TEXT.index(answer), ambiguous),), aliases=aliases)


@pytest.mark.parametrize(
    ("question", "answer", "answers", "aliases"),
    [
        (found("when", "1889", "1887"), "1889", (GoldAnswer("1889", 23),), ("1887",)),
        (found("who", "man", "the  Tower", "paris"), " tower", (GoldAnswer("tower", 4),), ("man", "paris")),
        (found("who", "a", ambiguous=True), "the", (GoldAnswer("the", 0),), ()),
        (found("where", "paris"), "of paris", (GoldAnswer("paris", 40),), ()),  # enough for a minimum F1
    ],
)
def test_the_readers_place_counts(
    question: Question, answer: str, answers: tuple[GoldAnswer, ...], aliases: tuple[str, ...]
) -> None:
    prediction = Prediction(question, answer, 0, 1.0, TEXT.index(answer))
    assert matches(prediction, 0.5)
    assert confirmed_question(prediction) == replace(question, answers=answers, aliases=aliases)


def test_an_annotated_place_stays() -> None:
    question = Question("when", "when?", (GoldAnswer("paris", 0), GoldAnswer("Paris", 9)))
    assert confirmed_question(Prediction(question, "Paris", 0, 1.0, 20)) == question


def test_passages_without_questions_stay_as_negatives() -> None:
    wrong, right, empty = found("who", "man"), found("when", "1889"), ()
    made = generated("what", "tower", "LAW")
    asked: list[tuple[Question, ...]] = [(wrong, right), (wrong,), empty, (made,), (made, wrong)]
    passages = [QuestionedPassage(Passage(TEXT, str(n)), n, questions) for n, questions in enumerate(asked)]
    predictions = [Prediction(q, "1889" if q is right else "paris", n, 0.0) for n, qs in enumerate(asked) for q in qs]
    kept = passing(passages, predictions, None, report := FilterReport())
    assert [(p.article, p.questions) for p in kept] == [(0, (right,)), (1, ()), (2, ()), (4, ())]
    assert report.negatives == 3
    assert report.rows() == [("annotated", 4, 1), ("LAW", 2, 0), ("all", 6, 1)]


def test_what_the_reader_does_not_answer_stays_without_an_answer() -> None:
    """A question of people, that is; a generated one is dropped."""
    asked, right, made = found("who", "man", "the man"), found("when", "1889"), generated("what", "tower", "LAW")
    known = Question("why", "why?", ())
    questions: list[tuple[Question, ...]] = [(asked, right, known), (asked,), (made,)]
    passages = [QuestionedPassage(Passage(TEXT, str(n)), n, several) for n, several in enumerate(questions)]
    answered = [(n, q) for n, several in enumerate(questions) for q in several if q.answers]
    predictions = [Prediction(q, "1889" if q is right else "", n, 0.0) for n, q in answered]
    kept = passing(passages, predictions, None, report := FilterReport())
    without = replace(asked, answers=(), aliases=())
    assert [(p.article, p.questions) for p in kept] == [(0, (right, without, known)), (1, (without,))]
    assert (report.unanswerable, report.negatives, report.passed.total()) == (3, 0, 1)


def test_the_surest_passages_of_a_question() -> None:
    scores = [1.0, 3.0, 2.0, 9.0]
    passages = [
        QuestionedPassage(Passage(TEXT, str(n)), n, (found(f"q#{n}", "1889", text="x" if n == 3 else "when?"),))
        for n in range(4)
    ]
    predictions = [
        Prediction(p.questions[0], "1889", n, score) for n, (p, score) in enumerate(zip(passages, scores, strict=True))
    ]
    for limit, expected in ((1, [1, 3]), (2, [1, 2, 3]), (3, [0, 1, 2, 3]), (None, [0, 1, 2, 3])):
        kept = passing(passages, predictions, None, report := FilterReport(), limit)
        assert [p.article for p in kept] == expected  # a passage that is replaced has the answer: it is no negative
        assert (report.passed.total(), report.negatives) == (len(expected), 0)


def test_questions_that_are_held_out(tiny_base: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)  # of other random readers some answer with an article, which is no word in common
    Reader.from_base(tiny_base, passage_tokens=96, overlap=16).save_pretrained(tmp_path / "reader")
    asked = (found("what", TEXT), found("when", TEXT), generated("what", TEXT, "LAW"))
    write_squad(tmp_path / "found.json", [QuestionedPassage(Passage(TEXT, "b"), 1, asked)])
    (tmp_path / "dev.jsonl").write_text('{"id": "1", "question": "What", "answers": ["x"]}')
    report = filter_questions(
        *(tmp_path / "found.json", tmp_path / "reader", tmp_path / "kept.json", 1e-9),
        exclude=[tmp_path / "dev.jsonl"],
        cpu=True,
    )
    assert (report.leaks.checked_questions, report.leaks.questions) == (2, 1)
    assert report.read == {"annotated": 1, "LAW": 1}


def test_a_file_is_filtered(tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)  # as above
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
    with pytest.raises(ConfigError, match="per_question=0"):
        filter_questions(*where, cpu=True, per_question=0)
    assert not (tmp_path / "kept.json").exists()
