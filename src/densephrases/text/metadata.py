"""Metadata values as texts, by which filters compare them."""

from typing import Any


def written_forms(value: Any) -> set[str]:
    """How a value may be written in a filter; each element of a list counts, mappings and null never."""
    found: set[str] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, list | tuple):
            pending += each
        elif isinstance(each, bool):
            found |= {str(each), str(each).lower()}
        elif isinstance(each, float) and each.is_integer():
            found |= {str(each), str(int(each))}
        elif isinstance(each, str | int | float):
            found.add(str(each))
    return found
