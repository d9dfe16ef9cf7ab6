"""How values of metadata may be written in filters."""

from typing import Any

import pytest

from densephrases.text.metadata import written_forms


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("en", {"en"}),
        ("", {""}),
        (1843, {"1843"}),
        (2.0, {"2.0", "2"}),
        (2.5, {"2.5"}),
        (float("inf"), {"inf"}),
        (True, {"True", "true"}),
        ([False, 1, ["x", [1.0]]], {"False", "false", "1", "x", "1.0"}),
        (("a", "a"), {"a"}),
        (None, set()),
        ({"x": 1}, set()),
        ([None, {"x": 1}], set()),
        ([], set()),
    ],
)
def test_forms(value: Any, texts: set[str]) -> None:
    assert written_forms(value) == texts
