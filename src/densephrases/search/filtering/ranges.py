"""Ranges of metadata values: numbers are compared as numbers, texts as texts. Imports no numpy."""

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from densephrases.errors import ConfigError

Bound = str | int | float
Comparison = Literal[">=", "<=", ">", "<"]
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Range:
    """A condition such as year >= 1990 on the metadata entry of a name."""

    key: str
    comparison: str
    bound: Bound

    def matches(self, value: Any, identifier: str) -> bool:
        """Whether a value, or one of a list, is in the range; null and mappings never are, other types are refused."""
        return any(self._compared(each, identifier) for each in _scalars(value))

    def _compared(self, value: Any, identifier: str) -> bool:
        if isinstance(value, bool) or isinstance(value, str) != isinstance(self.bound, str):
            raise ConfigError(
                f"where compares '{self.key}' with {self.bound!r}, but document {identifier!r} has {value!r:.60}; "
                "numbers are compared with numbers and texts with texts, so give a bound of the same type."
            )
        return COMPARISONS[self.comparison](value, self.bound)


def ranges_from(key: str, conditions: Mapping[Any, Any]) -> Iterator[Range]:
    """Of a mapping such as {">=": 1990, "<": 2000}."""
    if not conditions:
        raise ConfigError(f"where has {{}} for '{key}'; expected a comparison, such as {{'>=': 1990}}.")
    for comparison, bound in conditions.items():
        if comparison not in COMPARISONS:
            raise ConfigError(
                f"where has {comparison!r} for '{key}'; expected a comparison, one of {', '.join(COMPARISONS)}, "
                "a value or a list of values."
            )
        if isinstance(bound, bool) or not isinstance(bound, Bound) or bound != bound:
            raise ConfigError(f"where has {comparison} {bound!r} for '{key}'; expected a number or a text.")
        if isinstance(bound, float) and not math.isfinite(bound):
            raise ConfigError(f"where has {comparison} {bound!r} for '{key}'; expected a finite number.")
        yield Range(key, comparison, bound)


def _scalars(value: Any) -> Iterator[Any]:
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, list | tuple):
            pending += each
        elif isinstance(each, str | int | float):
            yield each
