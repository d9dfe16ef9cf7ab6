"""JSON from outside: what is read, and what is refused with a ValueError."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.json_input import MOST_NESTED, check_fields, depth, parse_json, read_json_file

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


@given(JSON)
def test_what_is_json_is_read(value: Any) -> None:
    text = json.dumps(value)
    assert parse_json(text) == value
    assert parse_json(text.encode(), most_values=len(text)) == value


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings(encoding: str) -> None:
    assert parse_json('{"é": "😀"}'.encode(encoding)) == {"é": "😀"}


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"\xff\xff", "decode"),
        ("{", "Expecting"),
        ('{"a": NaN}', "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("9" * 5000, "4300"),
        ("[" * 101 + "]" * 101, "nested more than 100 levels"),
        ("[" * 100_000, "nested more than 100 levels"),
        ('{"a":' * 100_000, "nested more than 100 levels"),
        ('"\\"' + "[" * 200, "Unterminated"),
    ],
)
def test_what_is_refused(source: str | bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(source)


def test_brackets_in_strings_are_no_nesting() -> None:
    assert parse_json(json.dumps(["[" * 1000, '"{' * 1000])) == ["[" * 1000, '"{' * 1000]
    assert depth(parse_json("[" * 100 + "]" * 100)) == MOST_NESTED


def test_too_many_values() -> None:
    assert parse_json(json.dumps({"text": "a, " * 500, "b": [1, 2]}), most_values=5)["b"] == [1, 2]
    with pytest.raises(ValueError, match="it has 12 values, more than 10"):
        parse_json("[[],[],[],[],[],[" + "]]", most_values=10)


def test_depth_of_what_contains_itself() -> None:
    circle: list[Any] = []
    circle += [circle, circle, {"a": circle}]
    assert depth(circle) == MOST_NESTED + 1
    assert depth({"a": [1, {"b": 2}]}) == 3
    assert depth("x") == 0


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    assert read_json_file(path) == {"a": 1}
    monkeypatch.setattr("densephrases.json_input.MOST_BYTES", 7)
    with pytest.raises(ValueError, match="more than 7 bytes"):
        read_json_file(path)


@dataclass
class Shape:
    name: str
    size: int
    ratio: float | None = None
    kind: Literal["a", "b"] = "a"
    parts: dict[str, int] = field(default_factory=dict)
    flag: bool = False


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"name": "x"}, "no 'size'"),
        ({"name": "x", "size": 1, "colour": 1}, "unknown 'colour'"),
        ({"name": 7, "size": 1}, "name=7 is not a text"),
        ({"name": "\ud800", "size": 1}, "is not a text"),
        ({"name": "x", "size": True}, "size=True is not a whole number"),
        ({"name": "x", "size": 1.0}, "size=1.0 is not a whole number"),
        ({"name": "x", "size": 10**400}, "is not a whole number"),
        ({"name": "x", "size": 1, "ratio": 10**400}, "is not a finite number or null"),
        ({"name": "x", "size": 1, "ratio": float("inf")}, "is not a finite number or null"),
        ({"name": "x", "size": 1, "ratio": "1"}, "is not a finite number or null"),
        ({"name": "x", "size": 1, "kind": "c"}, "is not one of 'a', 'b'"),
        ({"name": "x", "size": 1, "kind": []}, "is not one of 'a', 'b'"),
        ({"name": "x", "size": 1, "parts": {"a": "b"}}, "parts="),
        ({"name": "x", "size": 1, "parts": []}, "parts="),
        ({"name": "x", "size": 1, "flag": 1}, "flag=1 is not true or false"),
        ([], "is no object"),
    ],
)
def test_fields_of_wrong_types(values: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_fields(Shape, values)


def test_fields_of_right_types() -> None:
    check_fields(Shape, {"name": "é", "size": -3, "ratio": 2, "kind": "b", "parts": {"a": 1}, "flag": True})
    check_fields(Shape, {"name": "", "size": 0, "ratio": None})
