"""Regular inflections of English words."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.inflections import inflections


@pytest.mark.parametrize(
    "forms",
    [
        ("end", "ends", "ended", "ending"),
        ("fix", "fixes", "fixed", "fixing"),
        ("rate", "rates", "rated", "rating"),
        ("try", "tries", "tried", "trying"),
        ("stop", "stops", "stopped", "stopping"),
        ("day", "days"),
    ],
)
def test_every_form_has_the_others(forms: tuple[str, ...]) -> None:
    for form, other in permutations(forms, 2):
        assert other in inflections(form)


@pytest.mark.parametrize(("word", "other"), [("end", "endure"), ("bus", "busy"), ("see", "seal"), ("rent", "rest")])
def test_other_words_are_no_forms(word: str, other: str) -> None:
    assert other not in inflections(word)


def test_case_is_ignored() -> None:
    assert "ends" in inflections("End")
    assert "end" not in inflections("End")


@given(st.text(min_size=1, max_size=8))
def test_no_word_is_its_own_form(word: str) -> None:
    assert word.lower() not in inflections(word)
