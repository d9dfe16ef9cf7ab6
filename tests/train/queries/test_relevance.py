"""What is right for a question: an answer, a passage that holds one, a document that is known to."""

import pytest

from densephrases.data.questions import OpenQuestion
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.train.queries.relevance import Relevance
from densephrases.train.queries.target import Target

PASSAGE = "Virgil wrote the Aeneid, an epic."


def right(target: Target, question: OpenQuestion, phrase: str, document: str = "d1") -> bool:
    return Relevance(question, target, 20)(phrase, PASSAGE, DocumentRecord(document, "Virgil", {}))


def question(*answers: str, regex: bool = False, **documents: int) -> OpenQuestion:
    return OpenQuestion("1", "what did he write", answers, regex, documents)


@pytest.mark.parametrize(
    ("phrase", "expected"), [("Aeneid", True), ("the AENEID,", True), ("the Aeneid, an epic", False), ("Virgil", False)]
)
def test_a_phrase_is_an_answer(phrase: str, expected: bool) -> None:
    assert right("phrase", question("Georgics", "The Aeneid"), phrase) is expected


def test_patterns_are_matched_as_evaluation_does() -> None:
    assert right("phrase", question(r"aene?id", regex=True), "Aeneid")
    assert not right("phrase", question(r"aene?id", regex=True), "the Aeneid")
    assert right("passage", question(r"aene?id", regex=True), "Virgil")


def test_a_passage_holds_an_answer() -> None:
    assert right("passage", question("aeneid"), "Virgil")
    assert not right("passage", question("Georgics"), "Virgil")
    assert not right("passage", question("neid"), "Virgil")


def test_relevant_documents_decide_where_they_are_known() -> None:
    known = question("Aeneid", d1=1, d3=0)
    assert right("passage", known, "Virgil")
    assert not right("passage", known, "Virgil", "d2")
    assert not right("passage", question("Georgics", d1=1), "Virgil")
    assert right("document", question("Georgics", d1=1), "Virgil")
    assert not right("document", known, "Virgil", "d3")
    assert right("document", question("Aeneid"), "Virgil", "d3")
    assert right("phrase", known, "Aeneid", "d2"), "phrases are right wherever they stand"
    assert right("fact", known, "Aeneid")
    assert right("fact", question("Aeneid"), "Aeneid", "d2")
    assert not right("fact", known, "Aeneid", "d2")
    assert not right("fact", known, "Virgil")
