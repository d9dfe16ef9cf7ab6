"""JSON from outside the package: every fault of it is a ValueError that says what is wrong."""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from itertools import accumulate
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

MOST_NESTED = 100  # levels; Python's own parser ends in a RecursionError at some depth of its own
MOST_BYTES = 1 << 28  # of a file of settings
LARGEST = 1 << 53  # whole numbers up to it are the same in every reader of JSON

# Possessive: nothing to go back to, so time is linear in the text. An open string reaches to the end.
_STRING = re.compile(r'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^][{}]++")


def parse_json(source: str | bytes, most_values: int | None = None) -> Any:
    """The value of a JSON text. NaN, deep nesting and more values than allowed are refused before memory is taken."""
    text = source if isinstance(source, str) else source.decode(json.detect_encoding(source))
    _refuse_excess(text, most_values)
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except RecursionError as error:  # the caller is deep in calls itself
        raise ValueError("it is nested too deeply") from error


def read_json_file(path: Path) -> Any:
    """The value of a file of settings; raises OSError or ValueError."""
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    return parse_json(content)


def depth(value: Any) -> int:
    """How deeply lists and objects are nested, counted without recursion; no further than one above the limit."""
    deep, level = 0, [value]
    while deep <= MOST_NESTED and (level := [item for item in level if isinstance(item, dict | list | tuple)]):
        deep += 1
        inner = (part for item in level for part in (item.values() if isinstance(item, dict) else item))
        level = list({id(part): part for part in inner}.values())  # one that contains itself twice stays one
    return deep


def check_fields(kind: type, values: Mapping[str, Any]) -> None:
    """Compare an object with the fields of a dataclass: names, types, and numbers of a sensible size."""
    if not isinstance(values, dict):
        raise ValueError(f"{values!r:.60} is no object")
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(values.keys() - known.keys()):
        raise ValueError(f"unknown {', '.join(map(repr, unknown))}")
    needed = {name for name, field in known.items() if field.default is MISSING and field.default_factory is MISSING}
    if missing := sorted(needed - values.keys()):
        raise ValueError(f"no {', '.join(map(repr, missing))}")
    types = get_type_hints(kind)
    for name, value in values.items():
        if not _fits(value, types[name]):
            raise ValueError(f"{name}={value!r:.60} is not {_described(types[name])}")


def _fits(value: Any, expected: Any) -> bool:
    origin = get_origin(expected)
    if expected is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in get_args(expected))
    if origin is Literal:
        return any(value is choice or (isinstance(value, str) and value == choice) for choice in get_args(expected))
    if origin is dict:
        _, inner = get_args(expected)
        return isinstance(value, dict) and all(_fits(item, inner) for item in value.values())
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, get_args(expected)[0]) for item in value)
    if expected is float:
        return type(value) in (int, float) and abs(value) <= LARGEST  # false for NaN
    if expected is int:
        return type(value) is int and abs(value) <= LARGEST
    if expected is str:
        return isinstance(value, str) and _is_text(value)
    return type(value) is expected


def _is_text(value: str) -> bool:
    """Whether it can be encoded: half a surrogate pair is valid JSON, but no text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _described(expected: Any) -> str:
    if get_origin(expected) in (Union, UnionType):
        return " or ".join(map(_described, get_args(expected)))
    if get_origin(expected) is Literal:
        return f"one of {', '.join(map(repr, get_args(expected)))}"
    if get_origin(expected) is dict:
        return "an object of such values as are expected"
    names = {int: "a whole number", float: "a finite number", str: "a text", bool: "true or false", NoneType: "null"}
    return names.get(expected, str(expected))


def _refuse_excess(text: str, most_values: int | None) -> None:
    """Counts brackets and commas, first also those inside strings: most texts have few of either."""
    opened = text.count("[") + text.count("{")
    excess = most_values is not None and opened + text.count(",") > most_values
    if opened <= MOST_NESTED and not excess:
        return
    bare = _STRING.sub("", text)
    if excess and (count := bare.count("[") + bare.count("{") + bare.count(",")) > (most_values or 0):
        raise ValueError(f"it has {count:,} values, more than {most_values:,}")
    brackets = _NO_BRACKET.sub("", bare)
    if max(accumulate(1 if bracket in "[{" else -1 for bracket in brackets), default=0) > MOST_NESTED:
        raise ValueError(f"it is nested more than {MOST_NESTED} levels deep")


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
