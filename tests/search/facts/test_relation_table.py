"""What can be an object of a relation, by its shape and by the sentence it stands in."""

import re

import pytest

from densephrases.search.facts.relation_table import RELATIONS, known_relation
from tests.evaluate.made_up import answer

ADA = "Augusta Ada King (10 December 1815 – 27 November 1852), born Augusta Ada Byron, was an English mathematician."  # noqa: RUF001


@pytest.mark.parametrize(
    ("relation", "phrase", "sentence", "expected"),
    [
        ("place of birth", "Augusta Ada Byron", ADA, False),
        ("place of birth", "10 December 1815", ADA, False),
        ("place of birth", "Warsaw", "She was born Maria in Warsaw, in Poland.", True),
        ("place of birth", "Mainz", "Gutenberg was born in the German city of Mainz.", True),
        ("place of birth", "Edo", "Born in Edo (now Tokyo), he painted.", True),
        ("place of birth", "Paris", "She followed her sister to study in Paris.", False),
        ("birthplace", "warsaw", "she was born in warsaw.", True),
        ("date of birth", "10 December 1815", ADA, True),
        ("date of birth", "27 November 1852", ADA, False),
        ("date of birth", "Augusta Ada Byron", ADA, False),
        ("date of death", "27 November 1852", ADA, True),
        ("date of death", "10 December 1815", ADA, False),
        ("date of death", "1896", "Nobel died at home in 1896.", True),
        ("date of death", "1896", "Nobel wrote his will in 1896.", False),
        ("spouse", "Pierre Curie", "She shared the prize with her husband Pierre Curie.", True),
        ("spouse", "Pierre Curie", "She worked with Pierre Curie.", False),
        ("spouse", "in 1895", "They were married in 1895.", False),
        ("population", "120,000", "It has a population of 120,000.", True),
        ("population", "fish", "Most people eat fish.", False),
        ("capital", "Reykjavík", "Reykjavík is the capital of Iceland.", True),
        ("capital", "Reykjavík", "Reykjavík lies in Iceland.", False),
        ("founder", "Ole Kirk Christiansen", "The firm began in the workshop of Ole Kirk Christiansen.", True),
        ("headquarters", "Billund", "The company is based in Billund, Denmark.", True),
        ("inventor", "Ernő Rubik", "The puzzle was invented in 1974 by Ernő Rubik.", True),
        ("cause of death", "lung cancer", "Monet died of lung cancer.", True),
    ],
)
def test_objects(relation: str, phrase: str, sentence: str, expected: bool) -> None:
    known = known_relation(relation)
    assert known is not None
    assert known.admits(answer(phrase, "d", sentence, start=7)) == expected


def test_names_are_found_however_they_are_written() -> None:
    assert known_relation("Place_of-birth") is known_relation(" place  of birth ")
    assert known_relation("favourite colour") is None


def test_the_table() -> None:
    names = [name for relation in RELATIONS for name in relation.names]
    assert len(names) == len(set(names)), "a name of two relations"
    for relation in RELATIONS:
        assert all(name == name.lower() for name in relation.names)
        assert all("{subject}" in question and question.endswith("?") for question in relation.questions)
        re.compile(relation.stated)
