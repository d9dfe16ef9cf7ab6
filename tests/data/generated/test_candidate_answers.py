"""Candidate answers: where they stand, what they are called, and that none comes twice."""

from collections.abc import Sequence

import pytest

from densephrases.data.generated import candidate_answers as module
from densephrases.data.generated.candidate_answers import (
    AnswerExtractor,
    AnswerKind,
    CandidateAnswer,
    answers_from_spans,
)
from densephrases.errors import MissingExtraError

TEXT = "In March 1889, Gustave Eiffel's tower (324 m) drew 1.9 million visitors; by May 6, 1889 it cost $5.25 million."


def test_dates_and_numbers_need_no_pipeline() -> None:
    (found,) = AnswerExtractor([AnswerKind.dates, AnswerKind.numbers], "no such pipeline")([TEXT])
    assert [(c.text, c.type) for c in found] == [
        ("March 1889", "DATE_PHRASE"),
        ("1889", "NUMBER"),
        ("324", "NUMBER"),
        ("1.9 million", "NUMBER"),
        ("May 6, 1889", "DATE_PHRASE"),
        ("6", "NUMBER"),
        ("$5.25 million", "NUMBER"),
    ]
    assert all(TEXT[c.start : c.end] == c.text for c in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("born on 3 June 1975 here", ["3 June 1975"]),
        ("in 1066 and 2015, not 123456", ["1066", "2015"]),
        ("on December 7, at 8", ["December 7"]),
        ("may be 40", []),
    ],
)
def test_dates(text: str, expected: list[str]) -> None:
    (found,) = AnswerExtractor([AnswerKind.dates])([text])
    assert [c.text for c in found] == expected


def spans(text: str, *phrases: str) -> Sequence[tuple[int, int, str]]:
    return [(text.index(phrase), text.index(phrase) + len(phrase), "X") for phrase in phrases]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("Gustave Eiffel's", "Gustave Eiffel"),
        (" Gustave Eiffel", "Gustave Eiffel"),
        ("1889,", "1889"),
        ("In", "In"),
    ],
)
def test_cleaned(phrase: str, expected: str) -> None:
    (found,) = answers_from_spans(TEXT, spans(TEXT, phrase))
    assert found == CandidateAnswer(expected, TEXT.index(expected), "X")


def test_initials_keep_their_stops() -> None:
    text = "The U.S. and John F. went."
    assert [c.text for c in answers_from_spans(text, spans(text, "U.S.", "John F."))] == ["U.S.", "John F."]


def test_the_same_words_once_in_order_of_place() -> None:
    text = "Paris, paris and " + "very " * 21 + "long\nend"
    everything = [(7, 12, "B"), (0, 5, "A"), (0, 5, "C"), (17, 122, "LONG"), (118, 130, "LINES"), (5, 6, "EMPTY")]
    assert answers_from_spans(text, everything) == [CandidateAnswer("paris", 7, "B")]


def test_a_missing_pipeline_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy")
    with pytest.raises(MissingExtraError, match=r"no pipeline 'no_such'; .* python -m spacy download no_such"):
        AnswerExtractor([AnswerKind.entities], "no_such")
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"needs spacy; .*densephrases\[questions\]"):
        AnswerExtractor([AnswerKind.nouns])


class Chunk:
    """What noun_phrase looks at of a spaCy span."""

    def __init__(self, text: str, start_char: int, pos: str = "NOUN") -> None:
        self.text, self.start_char, self.end_char = text, start_char, start_char + len(text)
        self.root = type("Token", (), {"pos_": pos})


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (Chunk("the old tower", 10), (14, 23, "NOUN_PHRASE")),
        (Chunk("Towers", 3), (3, 9, "NOUN_PHRASE")),
        (Chunk("it", 3, "PRON"), None),
    ],
)
def test_noun_phrases(chunk: Chunk, expected: object) -> None:
    assert module.noun_phrase(chunk) == expected


def test_entities_of_a_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline of rules, as the trained ones are no part of the tests."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Gustave Eiffel"}])
    monkeypatch.setattr(module, "load_pipeline", lambda name, needed: pipeline)
    found = AnswerExtractor([AnswerKind.entities])([TEXT, "nobody"])
    assert found == [[CandidateAnswer("Gustave Eiffel", TEXT.index("Gustave"), "PERSON")], []]
