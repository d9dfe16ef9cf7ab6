"""A table of facts from a small index."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from densephrases.errors import ConfigError, DataError
from densephrases.search.answers import Answer, PhraseSpan, SourceDocument
from densephrases.search.facts.relations import (
    QUESTION,
    SLOT,
    Fact,
    RelationQuery,
    extract_facts,
    is_about,
    prefer_titled,
)
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.text.documents import Document
from tests.evaluate.made_up import answer, cities


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    return cities(tmp_path_factory.mktemp("indexes") / "cities")


def test_one_fact_a_subject_in_their_order(index: PhraseIndex) -> None:
    told: list[int] = []
    facts = index.extract(["Paris", "London"], "country", anywhere=True, advance=told.append)
    assert [(fact.subject, fact.relation) for fact in facts] == [("Paris", "country"), ("London", "country")]
    assert sum(told) == 2
    for fact in facts:
        assert fact.answer is not None
        assert fact.answer.document.title == fact.subject  # among the first fifty results of so small an index
        document = index.document(fact.answer.document.id)
        assert document is not None
        assert fact.object == document.text[fact.answer.start : fact.answer.end]


def test_without_preference_it_is_the_best_answer(index: PhraseIndex) -> None:
    (fact,) = index.extract(["Paris"], "country", template=SLOT, prefer_titles=False, anywhere=True)
    assert fact.answer == index.search("Paris [SEP] country", k=1, overlapping=True)[0]


def test_more_subjects_than_are_asked_at_once(index: PhraseIndex) -> None:
    subjects = [f"city {number}" for number in range(300)]
    assert [fact.subject for fact in index.extract(subjects, "country")] == subjects


def test_no_subjects(index: PhraseIndex) -> None:
    assert index.extract([], "country") == []


def test_documents_about_the_subject_come_first() -> None:
    answers = [answer("a", "rome"), answer("b", "paris (texas)"), answer("c", "paris"), answer("d", "paris")]
    assert [a.text for a in prefer_titled(answers, "PARIS ")] == ["c", "d", "b", "a"]
    assert [a.text for a in prefer_titled(answers, "Paris (Texas)")] == ["b", "c", "d", "a"]
    assert prefer_titled(answers, "Oslo") == answers


def test_questions() -> None:
    assert RelationQuery(relation="capital", template=QUESTION).questions("{relation}") == [
        "what is the capital of {relation}?"
    ]
    assert RelationQuery(relation="capital", template=SLOT).questions("France") == ["France [SEP] capital"]
    assert RelationQuery(relation="Place of  Birth").questions("Ada")[0] == "where was Ada born?"
    assert RelationQuery(relation="favourite colour").questions("Ada") == ["what is the favourite colour of Ada?"]


LIVES = [
    Document("nobel", "Alfred Nobel was born in Stockholm. Einstein admired him.", "Alfred Nobel"),
    Document("curie", "Marie Curie was born in Warsaw. Pierre Curie met her in Paris.", "Marie Curie"),
]


def told(text: str, document: Document, sentence: str, confidence: float | None = 0.5) -> Answer:
    """A phrase in a sentence of a document."""
    at = document.text.index(sentence)
    place = PhraseSpan(text, at + sentence.index(text), at + sentence.index(text) + len(text))
    source = SourceDocument(document.id, document.title, {})
    return Answer(
        text=text,
        score=1.0,
        confidence=confidence,
        start=place.start,
        end=place.end,
        document=source,
        passage=document.text,
        sentence=sentence,
        phrase=place,
        passage_start=0,
        sentence_start=at,
        unit="phrase",
    )


STOCKHOLM = told("Stockholm", LIVES[0], "Alfred Nobel was born in Stockholm.")
WARSAW = told("Warsaw", LIVES[1], "Marie Curie was born in Warsaw.")
PARIS = told("Paris", LIVES[1], "Pierre Curie met her in Paris.")


@pytest.mark.parametrize(
    ("found", "names", "expected"),
    [
        (STOCKHOLM, ["Alfred Nobel"], True),
        (STOCKHOLM, ["alfred nobel "], True),
        (STOCKHOLM, ["Albert Einstein"], False),
        (told("him", LIVES[0], "Einstein admired him."), ["Albert Einstein"], True),
        (told("him", LIVES[0], "Einstein admired him."), ["Isaac Newton"], False),
        (PARIS, ["Pierre Curie"], True),
        (WARSAW, ["Pierre Curie"], False),
        (WARSAW, ["Maria Skłodowska"], False),
        (WARSAW, ["Maria Skłodowska", "Marie Curie"], True),
    ],
)
def test_what_an_answer_is_about(found: Answer, names: list[str], expected: bool) -> None:
    assert is_about(found, names) == expected


def extracted(found: list[Answer], subject: str, **query: Any) -> str | None:
    """From a search that always finds the same."""

    def search(questions: list[str], request: SearchRequest) -> list[list[Answer]]:
        return [found for _ in questions]

    asked = RelationQuery(relation="place of birth", **query)
    (fact,) = extract_facts(search, [subject], asked, lambda _: None)
    return fact.object


def test_what_is_not_stated_stays_empty() -> None:
    assert extracted([STOCKHOLM, WARSAW], "Marie Curie") == "Warsaw"
    assert extracted([STOCKHOLM, WARSAW], "Albert Einstein") is None
    assert extracted([STOCKHOLM, WARSAW], "Albert Einstein", anywhere=True) == "Stockholm"
    assert extracted([PARIS], "Pierre Curie") is None, "where they met is no place of birth"
    assert extracted([WARSAW], "Maria Skłodowska", aliases={"Maria Skłodowska": ["Marie Curie"]}) == "Warsaw"


def test_unsure_answers_are_dropped() -> None:
    unsure = replace(WARSAW, confidence=0.05)
    assert extracted([unsure], "Marie Curie") is None
    assert extracted([unsure], "Marie Curie", min_confidence=0.01) == "Warsaw"
    assert extracted([replace(WARSAW, confidence=None)], "Marie Curie") == "Warsaw", "of a model that cannot tell"


def test_rows() -> None:
    row = Fact("Paris", "country", answer("France", "paris", "Paris is in France.", start=10)).to_dict()
    assert (row["object"], row["title"], row["start"], row["end"]) == ("France", "Paris", 22, 28)
    empty = Fact("Rome", "country", None).to_dict()
    assert empty.keys() == row.keys()
    assert [empty[key] for key in ("object", "confidence", "document", "start")] == [None] * 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"relation": " "}, "relation is empty"),
        ({"relation": "a", "template": "who?"}, r"does not name the \{subject\}"),
    ],
)
def test_what_cannot_be_asked(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RelationQuery(**settings)  # type: ignore[arg-type]


def test_empty_subjects_are_refused(index: PhraseIndex) -> None:
    with pytest.raises(DataError, match="Subject 2 is empty"):
        index.extract(["Paris", " "], "country")


def test_an_empty_index_knows_nothing(tmp_path: Path) -> None:
    index = cities(tmp_path / "index")
    index.delete(["tower", "london", "paris"])
    assert index.extract(["Paris"], "country")[0].object is None
