"""Answer normalization, by the examples of the official SQuAD script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.normalize import normalize_answer


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("an apple, a day.", "apple day"),
        ("  much \n space\t", "much space"),
        ("U.S.", "us"),
        ("theatre", "theatre"),
        ("Zürich – Genève", "zürich – genève"),  # noqa: RUF001 (only ASCII punctuation is removed)
        ("The", ""),
        ("", ""),
    ],
)
def test_normal_forms(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


@given(st.text())
def test_a_normal_form_has_no_extra_space(text: str) -> None:
    normal = normalize_answer(text)
    assert normal == " ".join(normal.split())
