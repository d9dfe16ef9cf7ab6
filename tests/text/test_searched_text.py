"""Sentences and terms of a text, found when asked for, against the whole text taken apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.hashed_terms import prefixes, terms
from densephrases.text.searched_text import SearchedText
from tests.text.sentence_oracle import sentences_around

TEXTS = st.text(st.sampled_from("aB. ?\n中。1)"), max_size=40)
WORDS = st.text(st.sampled_from("abA 1_\u03a3\u0130\ufb01e\u0301中.\n"), max_size=30)


@given(TEXTS, st.data())
def test_sentences_around_any_spans_in_any_order(text: str, data: st.DataObject) -> None:
    starts = st.integers(0, len(text))
    span = starts.flatmap(lambda start: st.tuples(st.just(start), st.integers(start, len(text))))
    searched = SearchedText(text)
    for start, end in data.draw(st.lists(span, max_size=5)):
        assert searched.sentences_around(start, end) == sentences_around(text, start, end)


@given(WORDS, WORDS)
def test_a_term_has_positions_where_the_text_has_it(text: str, asked: str) -> None:
    searched = SearchedText(text)
    for term, prefix in prefixes(asked).items():
        assert bool(searched.positions(prefix)) == (term in terms(text))


@given(WORDS, st.lists(WORDS, max_size=3))
def test_terms_that_occur_are_those_with_positions(text: str, asked: list[str]) -> None:
    wanted = tuple(prefix for each in asked for prefix in prefixes(each).values())
    searched = SearchedText(text)
    expected = [(place, SearchedText(text).positions(prefix)) for place, prefix in enumerate(wanted)]
    for _ in range(2):
        assert list(searched.occurring(wanted)) == [each for each in expected if each[1]]


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("Violins: a violin, violinists and viola", "violin", [0, 11, 19]),
        ("art, Art. smart arts", "art", [0, 5]),
        ("東京2020", "京", [1]),
        ("2020東京2020", "2020", [0, 6]),
        ("\u0130stanbul film, \ufb01lm", "film", [9, 15]),  # lower case and ligatures change the length
        ("snake_case", "case", [6]),
        ("", "film", []),
    ],
)
def test_positions_are_those_of_the_text_as_it_is(text: str, word: str, expected: list[int]) -> None:
    (prefix,) = prefixes(word).values()
    assert list(SearchedText(text).positions(prefix)) == expected
