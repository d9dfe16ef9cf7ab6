"""Words as numbers: what counts as one word, and what as none."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.hashed_terms import TERMS, fold, prefix_positions, prefixes, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Violin", "violin"),
        ("painter", "painted"),  # six letters are the same
        ("the violin", "What is a violin?"),  # what every text has counts for nothing
        ("violin-maker", "maker (violin)"),
        ("violin violin", "violin"),
        ("ﬁlm", "film"),
        ("cafe\u0301", "café"),
        ("snake_case", "case snake"),
    ],
)
def test_the_same_words(one: str, other: str) -> None:
    assert terms(one) == terms(other) != set()


def test_the_first_of_words_that_share_an_id_counts() -> None:
    """Whatever the order in which a process walks through a set."""
    assert terms("absent") == terms("weak")
    assert list(prefixes("Was he absent, or weak?").values()) == ["absent"]
    assert list(prefixes("Weak or absent?").values()) == ["weak"]


@pytest.mark.parametrize(("one", "other"), [("violin", "viola"), ("1843", "1844"), ("ß", "s"), ("京", "東")])
def test_other_words(one: str, other: str) -> None:
    assert terms(one) != terms(other)


def test_scripts_without_spaces_have_a_word_for_each_character() -> None:
    assert terms("東京2020") == terms("東") | terms("京") | terms("2020")


@pytest.mark.parametrize("text", ["", " \n", "?!", "what was the", "_"])
def test_no_words(text: str) -> None:
    assert terms(text) == set()


@given(st.text())
def test_any_text_has_numbers_within_bounds(text: str) -> None:
    assert all(0 <= term < TERMS for term in terms(text))


@given(st.lists(st.text("abcdé 中."), max_size=3), st.lists(st.text("abcdé 中."), max_size=3))
def test_texts_together_have_the_terms_of_both(ones: list[str], others: list[str]) -> None:
    assert terms("\n".join(ones + others)) == terms("\n".join(ones)) | terms("\n".join(others))


@given(st.text("abcdefg\u03a3é 中._1") | st.text())
def test_prefixes_are_what_terms_are_the_hashes_of(text: str) -> None:
    found = prefixes(text)
    assert found.keys() == terms(text)
    assert all(terms(prefix) == {term} for term, prefix in found.items())


@given(st.text("abcdefg é中._1 "), st.text("abcdefg é中._1 "))
def test_prefixes_begin_words(text: str, asked: str) -> None:
    folded, words = fold(text), re.findall(r"[中]|[^\W_中]+", fold(text))
    for prefix in prefixes(asked).values():
        positions = prefix_positions(folded, prefix)
        assert len(positions) == sum(word[:6] == prefix for word in words)
        assert all(folded.startswith(prefix, at) for at in positions)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_texts_have_the_words_of_all_others(text: str) -> None:
    """They are split by a pattern of their own; one other letter takes the general one."""
    assert terms(f"{text} \u00e9") == terms(text) | terms("\u00e9")
