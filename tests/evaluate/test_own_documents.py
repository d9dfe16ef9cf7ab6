"""Reports on the questions of an index's own documents, counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from densephrases.errors import DataError
from densephrases.evaluate.own_documents import Asked, ask_own, own_questions, own_report
from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder

TOWERS = [
    Document(str(year), f"The tower in Paris was built by Gustave Eiffel in {year}.", f"Tower {year}")
    for year in range(1880, 1900)
]


def answer(text: str, confidence: float | None) -> Answer:
    place = PhraseSpan(text, 0, len(text))
    source = SourceDocument("id", "", {})
    return Answer(text, 1.0, confidence, 0, len(text), source, text, text, place, 0, 0, "phrase")


def asked(expected: str, *answers: tuple[str, float | None], milliseconds: float = 1.0) -> Asked:
    return Asked("who?", (expected,) if expected else (), [answer(*each) for each in answers], milliseconds)


def test_counts() -> None:
    report = own_report(
        [
            asked("Ada Lovelace", ("the ada lovelace", 0.9)),  # exactly right
            asked("Ada Lovelace", ("Ada", 0.5)),  # right: F1 of 2/3
            asked("Ada Lovelace", ("Tom", 0.7), ("Ada Lovelace", 0.1)),  # wrong but sure, right among five
            asked("Ada Lovelace", *[("Tom", 0.3)] * 5, ("Ada Lovelace", 0.1)),  # the sixth does not count
            asked("Ada Lovelace"),  # no answer
            asked("", ("Tom", 0.65), milliseconds=21.0),  # absent, yet sure
            asked("", ("Tom", 0.1)),
        ],
        generated=True,
    )
    assert (report.questions, report.absent) == (5, 2)
    assert (report.first, report.exact, report.among_five) == (40, 20, 60)
    assert (report.sure, report.sure_right) == pytest.approx((300 / 7, 100 / 3))
    assert (report.absent_sure, report.wrong_but_sure) == (50, 2)
    assert [(each.answer, each.expected) for each in report.mistakes] == [("Tom", ("Ada Lovelace",)), ("Tom", ())]
    assert [(band.questions, band.right) for band in report.bands] == [(2, 0), (1, 0), (1, 100), (2, 0), (1, 100)]
    assert report.median_milliseconds == 1.0
    assert 1.0 < report.slow_milliseconds < 21.0


def test_without_confidences_nothing_is_sure() -> None:
    report = own_report([asked("Ada", ("Ada", None))], generated=False)
    assert (report.first, report.sure, report.bands, report.absent_sure) == (100, 0, [], None)
    assert report.slow_milliseconds == report.median_milliseconds == 1.0


def test_regular_expressions_are_matched() -> None:
    dated = replace(asked(r"18\d\d", ("1889", 0.9)), regex=True)
    report = own_report([dated, replace(dated, answers=[answer("1989", 0.9)])], generated=False)
    assert (report.first, report.exact) == (50, 50)


def test_questions_of_the_documents(tmp_path: Path) -> None:
    index = PhraseIndex.create(tmp_path / "index", TOWERS, model=HashEncoder())
    questions = own_questions(index, 8)
    answerable = [each for each in questions if each.answers]
    absent = [each for each in questions if not each.answers]
    assert (len(answerable), len(absent)) == (8, 2)
    assert len({each.id for each in questions}) == 10
    assert {each.answers[0] for each in answerable} <= {"Gustave Eiffel", *(each.id for each in TOWERS)}
    assert own_questions(index, 8) == questions
    assert own_questions(index, 8, seed=1) != questions
    assert len([each for each in own_questions(index, 1000) if each.answers]) == 40
    words = {word for each in TOWERS for word in each.text.split()}
    for each in absent:
        assert {word.strip("?,") for word in each.text.split()} - words - {"When", "By", "whom", "the", "where"}
    seen: list[int] = []
    found = ask_own(index, questions, SearchRequest(k=5), seen.append)
    assert [each.question for each in found] == [each.text for each in questions]
    assert sum(seen) == 11, "the first one twice"


def test_a_few_long_documents_are_read_further(tmp_path: Path) -> None:
    text = "| - |\n\n" * 5000 + TOWERS[0].text
    with PhraseIndex.create(tmp_path / "index", [Document("long", text)], model=HashEncoder()) as index:
        assert "1880" in [each.answers[0] for each in own_questions(index, 5) if each.answers]


def test_documents_without_plain_sentences(tmp_path: Path) -> None:
    index = PhraseIndex.create(tmp_path / "index", [Document("a", "It was built.")], model=HashEncoder())
    with pytest.raises(DataError, match=r"No question can be made from these documents.*--questions"):
        own_questions(index, 8)
