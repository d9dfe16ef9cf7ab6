"""Ranges of metadata values."""

from typing import Any

import pytest

from densephrases.errors import ConfigError
from densephrases.search.filtering.filters import Filter
from densephrases.text.documents import Document

METADATA = {"year": 1843, "score": 2.5, "date": "2026-01-31T10:00:00Z", "years": [1900, 2000], "none": None, "deep": {}}


@pytest.mark.parametrize(
    ("where", "matches"),
    [
        ({"year": {">=": 1843}}, True),
        ({"year": {">": 1843}}, False),
        ({"year": {">": 1842, "<": 1844}}, True),
        ({"year": {">": 1842, "<": 1843.0}}, False),
        ({"score": {"<=": 2.5}}, True),
        ({"score": {">": 9}}, False),
        ({"date": {">=": "2026-01-31"}}, True),
        ({"date": {">=": "2026-02"}}, False),
        ({"years": {">": 1950, "<": 1950}}, True),
        ({"years": {">": 2000}}, False),
        ({"missing": {">": 1}}, False),
        ({"none": {">": 1}}, False),
        ({"deep": {">": 1}}, False),
        ({"year": {">": 1}, "score": 2.5}, True),
        ({"year": {">": 1}, "score": 2}, False),
    ],
)
def test_ranges(where: dict[str, Any], matches: bool) -> None:
    assert Filter.from_conditions(where, None).matches(Document("d", "", "", METADATA)) == matches


@pytest.mark.parametrize(("value", "bound"), [("10", 9), (10, "9"), (True, 0), ([10, "a"], 9)])
def test_other_types_are_refused(value: Any, bound: Any) -> None:
    wanted = Filter.from_conditions({"year": {"<": bound}}, None)
    with pytest.raises(ConfigError, match=r"where compares 'year' with .*, but document 'd' has .* same type"):
        wanted.matches(Document("d", "", "", {"year": value}))


@pytest.mark.parametrize(
    ("conditions", "names"),
    [
        ({}, "expected a comparison"),
        ({"=": 1}, "has '=' for 'year'; expected a comparison, one of >=, <=, >, <"),
        ({">": None}, "has > None for 'year'; expected a number or a text"),
        ({">": True}, "has > True"),
        ({">": float("nan")}, "has > nan"),
        ({">": float("inf")}, "expected a finite number"),
        ({">": [1]}, "expected a number or a text"),
    ],
)
def test_refusals(conditions: dict[Any, Any], names: str) -> None:
    with pytest.raises(ConfigError) as error:
        Filter.from_conditions({"year": conditions}, None)
    assert names in str(error.value)


def test_equal_ranges_are_one_key() -> None:
    one, other = ({"a": {">": 1, "<": 5}}, {"a": {"<": 5, ">": 1}})
    assert Filter.from_conditions(one, None) == Filter.from_conditions(other, None)
    assert not Filter.from_conditions(one, None).matches_all
