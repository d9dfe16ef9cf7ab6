"""Damaged and malicious forms of valid files: bytes, numbers, nesting, characters and lengths nobody expects."""

import json
import random
import re
from typing import Any

NUMBERS = (
    *(
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"-1",
        b"0",
        b"1e999",
        b"-0.0",
        b"1e-999",
        b"9" * 5000,
        b"99999999999999999999",
    ),
    *(b"2147483648", b"-9223372036854775809", b"1.5", b"true", b"null", b'""', b'"7"', b"[]", b"{}"),
)
TOKENS = (
    *(b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"\\udfff", b"\\u0000", b"\r", b"\n", b"\t"),
    *(
        b'"',
        b"'",
        b"\\",
        b"<",
        b">",
        b"<!--",
        b"-->",
        b"{",
        b"}",
        b"[",
        b"]",
        b"{{",
        b"[[",
        b"{|",
        b"&#xD800;",
        b"&#0;",
    ),
    *(
        b"<a ",
        b"</",
        b"<![CDATA[",
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
        b"&b;",
        b"\xc3",
        b"\xe2\x80\xa8",
        b"\xf0\x9f\x98\x80",
    ),
    *(b",", b":", b"\x1b[31m", b"%PDF", b"\x1f\x8b", b"../", b"=", b"#", b"---\n", b"```"),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 1.5, -0.0, 1e308, "", "x", "\ud800", "\0", "7"),
    *(
        [],
        {},
        [[]],
        [None],
        ["x"],
        [1],
        {"": None},
        {"a": 1},
        {"text": "x"},
        "../../outside",
        "/etc/passwd",
        "x" * 5000,
    ),
)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One to four changes of the bytes."""
    for _ in range(chance.randint(1, 4)):
        content = chance.choice(_CHANGES)(content, chance)
    return content


def mutated_json(value: Any, chance: random.Random) -> bytes:
    """The JSON of a value of which a part is replaced, removed, repeated, renamed or buried; sometimes damaged too."""
    changed = _changed(json.loads(json.dumps(value)), chance)
    text = json.dumps(changed).encode()
    return mutated(text, chance) if chance.random() < 0.2 else text


def _changed(value: Any, chance: random.Random) -> Any:
    inner = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if inner and chance.random() < 0.85:
        key = chance.choice(inner)
        match chance.randrange(8):
            case 0:
                del value[key]
            case 1 if isinstance(value, dict):
                value[chance.choice(("", "text", "\ud800", "unknown"))] = value.pop(key)
            case 2 if isinstance(value, list):
                value.append(value[key])
            case _:
                value[key] = _changed(value[key], chance)
        return value
    if chance.random() < 0.1:
        return _buried(value, chance.choice((50, 99, 101, 300)))
    return json.loads(json.dumps(chance.choice(_VALUES)))


def _buried(value: Any, levels: int) -> Any:
    for number in range(levels):
        value = [value] if number % 2 else {"a": value}
    return value


def _flip(content: bytes, chance: random.Random) -> bytes:
    if not content:
        return content
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randint(0, len(content))]


def _remove(content: bytes, chance: random.Random) -> bytes:
    at, size = chance.randint(0, len(content)), chance.choice((1, 1, 4, 30))
    return content[:at] + content[at + size :]


def _repeat(content: bytes, chance: random.Random) -> bytes:
    at, size, times = chance.randint(0, len(content)), chance.choice((1, 3, 20)), chance.choice((2, 2, 3, 200))
    return content[:at] + content[at : at + size] * times + content[at + size :]


def _insert(content: bytes, chance: random.Random) -> bytes:
    at, times = chance.randint(0, len(content)), chance.choice((1, 1, 1, 2, 150))
    return content[:at] + chance.choice(TOKENS) * times + content[at:]


def _move(content: bytes, chance: random.Random) -> bytes:
    a, b = sorted((chance.randint(0, len(content)), chance.randint(0, len(content))))
    at = chance.randint(0, len(content))
    return content[:at] + content[a:b][:200] + content[at:]


def _number(content: bytes, chance: random.Random) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return _insert(content, chance)
    number = chance.choice(found)
    return content[: number.start()] + chance.choice(NUMBERS) + content[number.end() :]


def _nest(content: bytes, chance: random.Random) -> bytes:
    at, levels = chance.randint(0, len(content)), chance.choice((10, 101, 1100))
    before, after = chance.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"<div>", b"</div>"), (b"{{a|", b"}}"), (b"(", b")"))
    )
    return content[:at] + before * levels + after * chance.choice((0, levels)) + content[at:]


_CHANGES = (_flip, _cut, _remove, _repeat, _insert, _insert, _move, _number, _nest)
