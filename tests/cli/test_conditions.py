"""Conditions at the command line."""

from typing import Any

import pytest

from densephrases.cli.conditions import parse_conditions
from densephrases.errors import ConfigError


@pytest.mark.parametrize(
    ("written", "since", "until", "expected"),
    [
        ([], None, None, None),
        (["a=1", "a=x=y", "b="], None, None, {"a": ["1", "x=y"], "b": [""]}),
        (["a>=1", "a<2.5"], None, None, {"a": {">=": 1, "<": 2.5}}),
        (['a>"1"', "b<=2026-01"], None, None, {"a": {">": "1"}, "b": {"<=": "2026-01"}}),
        ([], "2026-01-31", None, {"modified": {">=": "2026-01-31T00:00:00Z"}}),
        ([], None, "2026-01-31", {"modified": {"<": "2026-02-01T00:00:00Z"}}),
        ([], None, "2026-01-31T18:30+02:00", {"modified": {"<=": "2026-01-31T16:30:00Z"}}),
        (
            ["a=1"],
            "2026-01-01",
            "2026-01-01",
            {"a": ["1"], "modified": {">=": "2026-01-01T00:00:00Z", "<": "2026-01-02T00:00:00Z"}},
        ),
    ],
)
def test_conditions(written: list[str], since: str | None, until: str | None, expected: Any) -> None:
    assert parse_conditions(written, since, until) == expected


@pytest.mark.parametrize(
    ("written", "since", "message"),
    [
        (["lang"], None, "--where lang is not of the form key=value"),
        (["=x"], None, "not of the form"),
        (["a=1", "a>1"], None, "both values and a range for 'a'"),
        (["a>1", "a>2"], None, "Two conditions with > are given for 'a'"),
        ([], "yesterday", "--since yesterday is no date; expected for example 2026-01-31"),
    ],
)
def test_mistakes(written: list[str], since: str | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_conditions(written, since)
