"""A table of facts from a small index."""

from pathlib import Path

import pytest

from densephrases.errors import ConfigError, DataError
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.relations import QUESTION, SLOT, Fact, RelationQuery, prefer_titled
from tests.evaluate.made_up import answer, cities


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> PhraseIndex:
    return cities(tmp_path_factory.mktemp("indexes") / "cities")


def test_one_fact_a_subject_in_their_order(index: PhraseIndex) -> None:
    told: list[int] = []
    facts = index.extract(["Paris", "London"], "country", advance=told.append)
    assert [(fact.subject, fact.relation) for fact in facts] == [("Paris", "country"), ("London", "country")]
    assert sum(told) == 2
    for fact in facts:
        assert fact.answer is not None
        assert fact.answer.document.title == fact.subject  # among the first fifty results of so small an index
        document = index.document(fact.answer.document.id)
        assert document is not None
        assert fact.object == document.text[fact.answer.start : fact.answer.end]


def test_without_preference_it_is_the_best_answer(index: PhraseIndex) -> None:
    (fact,) = index.extract(["Paris"], "country", template=SLOT, prefer_titles=False)
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
    assert RelationQuery(relation="capital", template=QUESTION).question("{relation}") == (
        "what is the capital of {relation}?"
    )
    assert RelationQuery(relation="capital", template=SLOT).question("France") == "France [SEP] capital"


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
