"""Questions to begin with."""

from dataclasses import replace
from pathlib import Path

import pytest

from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.phrase_index import PhraseIndex
from densephrases.serve.runtime.suggested_questions import (
    SUGGESTIONS_FILE,
    CandidateQuestion,
    candidates,
    choose,
    is_correct,
    owner_questions,
    sampled_titles,
)
from densephrases.text.documents import Document
from tests.index.made_up import HashEncoder
from tests.serve.running import running

TOWER = "The Eiffel Tower was designed by Stephen Sauvestre. Many like the Eiffel Tower."
PLACES = [
    Document("tower", TOWER, "Eiffel Tower"),
    Document("ada", "Ada Lovelace (10 December 1815 \u2013 27 November 1852) was an English writer.", "Ada Lovelace"),
    Document("lake", "Lake Baikal is 1642 m deep.", "Lake Baikal (Siberia)"),
    Document("goodall", "Jane Goodall was born on 3 April 1934, in London.", "Jane Goodall"),
    Document("byron", "Ada Byron was born Augusta Ada.", "Ada Byron"),
    Document("bridge", "A road to the Long Bridge was built in 1900. It is long.", "Long Bridge"),
    Document("untitled", "The tower was built in 1889.", ""),
]


OF_SENTENCES = (
    "By whom was the Eiffel Tower designed?",
    "When was Jane Goodall born, in London?",
    "When was a road to the Long Bridge built?",
    "When was the tower built?",
)


@pytest.fixture
def index(tmp_path: Path) -> PhraseIndex:
    return PhraseIndex.create(tmp_path / "index", PLACES, model=HashEncoder())


def answer_to(candidate: CandidateQuestion, text: str, confidence: float | None = 0.9) -> Answer:
    """A phrase of the document the question came from."""
    document = next(each for each in PLACES if each.id == candidate.document)
    start = document.text.index(text)
    end = start + len(text)
    source = SourceDocument(document.id, document.title, {})
    place = PhraseSpan(text, start, end)
    return Answer(text, 1.0, confidence, start, end, source, document.text, document.text, place, 0, 0, "phrase")


def by_question(index: PhraseIndex) -> dict[str, CandidateQuestion]:
    return {each.question: each for each in candidates(index)}


def test_questions_that_the_text_suggests(index: PhraseIndex) -> None:
    """Only sentences about the title itself count, and names are written as the text writes them."""
    assert by_question(index).keys() == {
        "Who designed the Eiffel Tower?",
        "When was the Eiffel Tower designed?",
        "When was Ada Lovelace born?",
        "How deep is Lake Baikal?",
        "When was Jane Goodall born?",
        "Where was Jane Goodall born?",
        "When was Ada Byron born?",
        *OF_SENTENCES,
    }


def test_deleted_documents_suggest_nothing(index: PhraseIndex) -> None:
    index.delete(["tower", "ada", "goodall", "byron"])
    assert by_question(index).keys() == {
        "How deep is Lake Baikal?",
        "When was a road to the Long Bridge built?",
        "When was the tower built?",
    }


def test_an_empty_index(tmp_path: Path) -> None:
    assert candidates(PhraseIndex.create(tmp_path / "index", [], model=HashEncoder())) == []


def test_correct_answers(index: PhraseIndex) -> None:
    candidate = by_question(index)["When was Ada Lovelace born?"]
    right = answer_to(candidate, "10 December 1815")
    assert is_correct(candidate, right)
    assert is_correct(candidate, replace(right, confidence=None))
    assert not is_correct(candidate, replace(right, confidence=0.4))
    assert not is_correct(candidate, answer_to(candidate, "Ada Lovelace"))
    assert not is_correct(candidate, replace(right, document=SourceDocument("tower", "", {})))
    tower = by_question(index)["Who designed the Eiffel Tower?"]
    assert is_correct(tower, answer_to(tower, "Stephen Sauvestre"))
    assert not is_correct(tower, answer_to(tower, "Many"))  # another sentence
    assert not is_correct(tower, answer_to(tower, "The Eiffel Tower"))


def test_documents_without_a_title_have_correct_answers_too(index: PhraseIndex) -> None:
    untitled = by_question(index)["When was the tower built?"]
    assert is_correct(untitled, answer_to(untitled, "1889"))
    assert not is_correct(untitled, answer_to(untitled, "The tower"))


def test_titles(index: PhraseIndex, tmp_path: Path) -> None:
    titled = [(each.id, each.title) for each in PLACES if each.title]
    assert sampled_titles(index) == titled
    with running(index) as service:
        found = service.call("GET", "/v1/examples").json["documents"]
    assert [(each["id"], each["title"]) for each in found] == titled
    many = [Document(str(n), "It rains.", f"Day {n}") for n in range(40)]
    sampled = sampled_titles(PhraseIndex.create(tmp_path / "many", many, model=HashEncoder()))
    assert len(sampled) == 6
    assert int(sampled[-1][0]) > 20, "from all over the index"


def test_the_surest_come_first_and_no_document_twice(index: PhraseIndex) -> None:
    found = by_question(index)
    tower, ada = found["Who designed the Eiffel Tower?"], found["When was Ada Lovelace born?"]
    lake = found["How deep is Lake Baikal?"]
    searched = [
        (tower, answer_to(tower, "Stephen Sauvestre", 0.6)),
        (ada, answer_to(ada, "1815", 0.8)),
        (replace(ada, question="again?"), answer_to(ada, "1815", 0.7)),
        (lake, answer_to(lake, "1642", 0.2)),
    ]
    assert choose(searched) == [ada.question, tower.question]


def test_questions_of_the_owner(index: PhraseIndex) -> None:
    assert owner_questions(index) == []
    with running(index) as service:
        assert service.call("GET", "/v1/examples").status == 200
        (index.folder.folder / SUGGESTIONS_FILE).write_text("# for visitors\nWho built it?\n\n When? \n")
        assert service.call("GET", "/v1/examples").json["questions"] == ["Who built it?", "When?"]
    (index.folder.folder / SUGGESTIONS_FILE).write_bytes(b"\xff\xfe\xff")
    assert owner_questions(index) == []
    assert index.check() == []


def test_they_are_tried_once_for_each_state_of_the_index(index: PhraseIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    search = PhraseIndex.search

    def spied(self: PhraseIndex, questions: list[str], *args: object, **terms: object) -> object:
        asked.append(questions)
        return search(self, questions, *args, **terms)  # type: ignore[call-overload]

    with running(index, reload_seconds=1000) as service:
        monkeypatch.setattr(PhraseIndex, "search", spied)
        assert service.call("GET", "/v1/examples").json == service.call("GET", "/v1/examples").json
        assert len(asked) == 1
        assert set(asked[0]) == set(by_question(index))
