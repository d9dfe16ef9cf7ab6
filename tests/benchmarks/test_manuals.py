"""The questions of the benchmark on manuals, and how answers to them are judged."""

from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from densephrases.search.answers import Answer, PhraseSpan, SourceDocument

from .conftest import Importing


@pytest.fixture
def manuals(benchmark_module: Importing) -> ModuleType:
    return benchmark_module("manuals")


def found(phrase: str, sentence: str = "", file: str = "git/git-clone.txt", confidence: float = 0.9) -> Answer:
    return Answer(
        text=phrase,
        score=1.0,
        confidence=confidence,
        start=0,
        end=len(phrase),
        document=SourceDocument(file, "", {}),
        passage=sentence or phrase,
        sentence=sentence or phrase,
        phrase=PhraseSpan(phrase, 0, len(phrase)),
        passage_start=0,
        sentence_start=0,
        unit="phrase",
    )


def test_there_are_enough_questions_of_enough_kinds(manuals: ModuleType) -> None:
    kinds = Counter(question.kind for question in manuals.read_questions())
    assert kinds.total() >= 150
    assert len(kinds) >= 10
    assert kinds["absent"] >= 20
    texts = [question.question for question in manuals.read_questions()]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize(
    ("phrase", "right"),
    [
        ("4MB", True),
        ("four megabytes (4MB)", True),
        ("4MB of memory before it writes", True),
        ("4MB of memory before it writes to temporary disk files", False),
        ("64MB", False),
        ("", False),
    ],
)
def test_a_phrase_holds_the_answer_and_little_else(manuals: ModuleType, phrase: str, right: bool) -> None:
    question = manuals.Question(kind="default", question="?", answers=("4MB",), file="x")
    assert question.is_answered_by(found(phrase)) is right


def test_a_sentence_holds_the_answer(manuals: ModuleType) -> None:
    question = manuals.Question(kind="how to", question="?", answers=("shallow clone",), file="x", sentence=True)
    assert question.is_answered_by(found("a", "Create a shallow clone with a history truncated to some commits."))
    assert not question.is_answered_by(found("shallow clone", "Create it."))


def test_a_document_is_judged_by_its_file(manuals: ModuleType) -> None:
    question = manuals.Question(kind="document", question="git-clone manual", file="git/git-clone.txt")
    assert question.is_answered_by(found("x", file="manuals/git/git-clone.txt"))
    assert not question.is_answered_by(found("x", file="git/git-fetch.txt"))


def test_absent_questions_have_no_right_answer(manuals: ModuleType) -> None:
    absent = manuals.Question(kind="absent", question="Who wrote War and Peace?")
    assert not absent.is_answered_by(found("Leo Tolstoy"))


def test_report_counts_the_wrong_and_the_absent(manuals: ModuleType) -> None:
    def asked(question: dict[str, Any], *answers: Answer) -> object:
        return manuals.Asked(manuals.Question(question="?", **question), list(answers))

    stated, absent = {"kind": "default", "answers": ("1",), "file": "x"}, {"kind": "absent"}
    report = manuals.report(
        [
            asked(stated, found("1"), found("2")),
            asked(stated, found("2"), found("1")),
            asked(stated, found("3", confidence=0.3)),
            asked(stated),
            asked(absent, found("4", confidence=0.1)),
            asked(absent, found("5", confidence=0.25)),
        ],
        10.0,
    )
    assert (report.questions, report.first, report.among_five) == (6, 25.0, 50.0)
    assert (report.sure, report.sure_and_wrong) == (2, 1)
    assert (report.absent, report.absent_shown) == (2, 1)
    assert [(kind.kind, kind.questions) for kind in report.kinds] == [("absent", 2), ("default", 4)]
