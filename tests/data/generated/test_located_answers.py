"""Answers are located character by character, wherever a phrase of whole words is one, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.generated.located_answers import (
    LocatedAnswer,
    PatternLocator,
    TextLocator,
    is_ambiguous,
    is_significant,
    locator_of,
    most_likely,
)
from densephrases.data.matching.gold_answers import squeeze
from densephrases.data.questions import OpenQuestion
from densephrases.text.normalize import normalize_answer
from densephrases.text.words import is_inside_word

WORDS = ["Paris", "paris-based", "U.S.", "us", "the", "a", "AC/DC", "of", "(the", "tower)", "1889,", "Eiffel's", "x"]


def located(answers: list[str], passage: str) -> list[str]:
    return [place.text for place in TextLocator(answers).locate(passage, squeeze(passage))]


def brute_force(form: str, passage: str) -> set[LocatedAnswer]:
    """All shortest phrases with the normal form: none of whose ends is punctuation, space or an article."""
    cuts = [at for at in range(len(passage) + 1) if not is_inside_word(passage, at)]
    spans = [(start, end) for start in cuts for end in cuts if start < end]
    right = [(start, end) for start, end in spans if normalize_answer(passage[start:end]) == form]
    shortest = [
        (start, end)
        for start, end in right
        if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in right)
    ]
    return {LocatedAnswer(passage[start:end], start) for start, end in shortest}


@given(st.lists(st.sampled_from(WORDS), max_size=8), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3))
def test_every_phrase_that_matches_is_located(passage_words: list[str], answer_words: list[str]) -> None:
    passage, answer = " ".join(passage_words), " ".join(answer_words)
    found = TextLocator([answer]).locate(passage, squeeze(passage))
    expected = brute_force(normalize_answer(answer), passage) if is_significant(answer) else set()
    assert all(passage[place.start : place.end] == place.text for place in found)
    assert set(found) <= expected
    assert bool(found) == bool(expected)  # of phrases that overlap, as in "us us us", the first is located
    if found or not is_significant(answer):
        return
    assert not TextLocator([answer]).occurs_in(passage, squeeze(passage))


def test_what_is_located() -> None:
    assert located(["the Eiffel Tower"], "An (Eiffel) the tower, Eiffel-Tower.") == ["Eiffel) the tower"]
    assert located(["Paris"], "parisian, a Paris-based firm, PARIS's") == ["Paris", "PARIS"]
    assert located(["the", "A", "7", "of the"], "the A of the 7") == ["7"]
    assert located(["U.S."], "In the US, us and U.S. plus") == ["US", "us", "U.S"]
    assert located(["Gogh", "van Gogh"], "Vincent van Gogh") == ["van Gogh", "Gogh"]
    assert located(["Erdős"], "by Erdős") == ["Erdős"]


@pytest.mark.parametrize(
    ("answer", "significant"),
    [("7", True), ("x", False), ("X.", False), ("the who", False), ("?!", False), ("Paris", True), ("of 12", True)],
)
def test_significant_answers(answer: str, significant: bool) -> None:
    assert is_significant(answer) == significant


def test_aliases_are_the_other_answers() -> None:
    locator = TextLocator(["Big Apple", "New York", "the new york", "x", "NYC"])
    places = locator.locate("in New York", squeeze("in New York"))
    assert locator.aliases(places[0], places) == ("Big Apple", "NYC")


def patterns(sources: list[str], passage: str) -> list[str]:
    locator = locator_of(OpenQuestion("1", "?", tuple(sources), regex=True))
    assert isinstance(locator, PatternLocator)
    places = locator.locate(passage, squeeze(passage))
    assert all(passage[place.start : place.end] == place.text for place in places)
    assert locator.occurs_in(passage, squeeze(passage)) or not places
    return [place.text for place in places]


def test_patterns_match_from_a_words_beginning_to_a_words_end() -> None:
    assert patterns(["198[026]", "kiss(ing)?"], "In 1980, not 1981, she kissed; 11986") == ["1980", "kissed"]
    assert patterns(["Bloomington.*Normal"], "Bloomington and Normal are twins") == ["Bloomington and Normal"]
    assert patterns([r"\(broken", "x*"], "x and y") == []
    assert patterns(["Bloomington.*Normal"], f"Bloomington {'word ' * 20}Normal") == []


def test_what_else_patterns_match_is_an_alias() -> None:
    locator, passage = PatternLocator(["198[026]"]), "1986, 1980, 1986"
    places = locator.locate(passage, squeeze(passage))
    assert [place.text for place in places] == ["1986", "1980", "1986"]
    assert locator.aliases(places[0], places) == ("1980",)
    assert locator.aliases(places[1], places) == ("1986",)


def test_patterns_that_backtrack_end() -> None:
    passage = "a " * 1500
    assert patterns([".*.*.*.*.*b"], passage) == []


def test_the_sentence_of_the_question_is_preferred() -> None:
    passage = "Paris is old. The tower stands in Paris. New Paris is a town."
    places = TextLocator(["Paris", "New Paris"]).locate(passage, squeeze(passage))
    assert most_likely("where is the tower?", passage, places).start == passage.index("in Paris") + 3
    assert most_likely("where is it?", passage, places).text == "New Paris"
    assert most_likely("where?", passage, places[:1]) is places[0]


def test_ambiguous_places() -> None:
    passage = "Paris and Paris, Rome"
    first, second, only = (LocatedAnswer("Paris", 0), LocatedAnswer("Paris", 10), LocatedAnswer("Rome", 17))
    assert is_ambiguous(passage, first)
    assert is_ambiguous(passage, second)
    assert not is_ambiguous(passage, only)
