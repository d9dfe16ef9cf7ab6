"""Capitals learned from a few sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.truecase import Truecaser

TEXTS = [
    "It is a city. Paris, in France, is the city of NATO's summer. They may march in May or in may, may it was.",
    "In the city, Paris was young.\nThe end. And Apple's apple, an apple.",
]


@pytest.fixture(scope="module")
def truecaser() -> Truecaser:
    return Truecaser.learn(TEXTS)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("is paris in france?", "Is Paris in France?"),
        ("paris in may", "Paris in may"),  # more often so
        ("the city of nato's end", "The city of NATO's end"),
        ("who saw frodo", "Who Saw Frodo"),  # unknown words are taken for names
        ("an apple", "An apple"),
        ("  was it the city", "  Was it the city"),
        ("is Paris in france?", "is Paris in france?"),
        ("1889?", "1889?"),
        ("", ""),
    ],
)
def test_questions(truecaser: Truecaser, question: str, expected: str) -> None:
    assert truecaser(question) == expected


def test_beginnings_of_sentences_do_not_count() -> None:
    assert Truecaser.learn(["The end. The end. On the way."])("on the way") == "On the way"


def test_nothing_learned_makes_names_of_all() -> None:
    assert Truecaser.learn([])("who was ada") == "Who Was Ada"


@given(st.lists(st.text(max_size=30), max_size=3), st.text(max_size=30))
def test_only_case_changes(texts: list[str], question: str) -> None:
    assert Truecaser.learn(texts)(question).casefold() == question.casefold()
