"""Answers that are patterns, and what their matches cannot do without."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.matching.regex_answers import PatternAnswer, needed_literals


@pytest.mark.parametrize(
    ("pattern", "text", "right"),
    [
        ("Belgians?|Belgium", "belgium", True),
        ("Belgians?|Belgium", "Belgians and others", True),  # the answer begins with it
        ("Belgians?|Belgium", "in Belgium", False),
        ("kiss(ing)?", "Kissing", True),
        (r"\b5\b|five", "50", False),
        ("broken\\", "broken\\", False),
    ],
)
def test_matches(pattern: str, text: str, right: bool) -> None:
    assert PatternAnswer(pattern).matches(text) is right


def test_a_broken_pattern_is_known() -> None:
    assert not PatternAnswer("broken\\").readable
    assert not PatternAnswer("(" * 5000 + ")" * 5000).readable
    assert not PatternAnswer("x{99999999999999999999}").readable
    assert PatternAnswer("whole").readable


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("kiss(ing)?", {"kiss"}),
        ("Belgians?|Belgium", {"belgian", "belgium"}),
        (r"6,194-meter|20\s?feet", {"6,194-meter", "feet"}),
        ("[EÉ]lys[ée]e palace", {"e palace"}),
        ("Minneapolis.*S(ain)?t.*Paul", {"minneapolis"}),
        ("(ten|10) years", {" years"}),
        ("(ten|10)", {"ten", "10"}),
        ("((Crick|Watson).*){2}|(?:Sky)?larks+", {"crick", "watson", "larks"}),
        ("(a|b)?|c", None),
        ("a{0}bc{2}", {"bc"}),
        (r"four|\d", None),
        ("x*|abc", None),
        ("[]a]bc", None),
        ("(?x) a b", None),
        (r"a\|b", {"a|b"}),
    ],
)
def test_needed_literals(pattern: str, expected: set[str] | None) -> None:
    assert needed_literals(pattern) == (None if expected is None else frozenset(expected))


PATTERNS = st.text(st.sampled_from(list("abAé.|():[]?*+\\s5-^${}2,")), max_size=12)
TEXTS = st.text(st.sampled_from(list("abAéÉ.|()5- s\u017f2,\n")), max_size=20)


@given(PATTERNS, TEXTS)
def test_whatever_matches_has_what_is_needed(pattern: str, text: str) -> None:
    answer = PatternAnswer(pattern)
    if re.search(answer.compiled, text):
        assert answer.may_match(text.casefold())
