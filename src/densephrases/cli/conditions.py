"""Conditions on documents as they are written at the command line."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

import typer

from densephrases.errors import ConfigError

Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CONDITION",
        help="Only documents with this metadata: key=value (repeat a key to allow several values), or key>=value, also "
        "with <=, > and <.",
    ),
]
Since = Annotated[
    str | None, typer.Option(metavar="DATE", help="Only files modified since, such as 2026-01-31; in UTC.")
]
Until = Annotated[
    str | None, typer.Option(metavar="DATE", help="Only files modified until then, such as 2026-01-31; in UTC.")
]
_CONDITION = re.compile(r"([^=<>]+)(>=|<=|>|<|=)(.*)", re.DOTALL)


def parse_conditions(
    conditions: list[str] | None, since: str | None = None, until: str | None = None
) -> dict[str, Any] | None:
    """As `SearchRequest.where` takes them; numbers of ranges are numbers, unless they are in quotation marks."""
    wanted: dict[str, Any] = {}
    for condition in conditions or ():
        found = _CONDITION.fullmatch(condition)
        if found is None:
            raise ConfigError(
                f"--where {condition} is not of the form key=value; expected for example lang=en, or year>=1990."
            )
        key, comparison, value = found.groups()
        _add(wanted, key, comparison, value if comparison == "=" else _bound(value))
    if since is not None:
        _add(wanted, "modified", ">=", _moment("--since", since))
    if until is not None:
        comparison = "<" if _is_date(until) else "<="
        _add(wanted, "modified", comparison, _moment("--until", until, days=int(_is_date(until))))
    return wanted or None


def _add(wanted: dict[str, Any], key: str, comparison: str, value: Any) -> None:
    is_range = comparison != "="
    before = wanted.setdefault(key, {} if is_range else [])
    if isinstance(before, dict) != is_range:
        raise ConfigError(f"--where gives both values and a range for '{key}'; give only one of them.")
    if not is_range:
        before.append(value)
    elif comparison in before:
        raise ConfigError(f"Two conditions with {comparison} are given for '{key}'; give one.")
    else:
        before[comparison] = value


def _bound(written: str) -> str | int | float:
    try:
        value = json.loads(written)
    except ValueError:
        return written
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else written


def _is_date(written: str) -> bool:
    try:
        date.fromisoformat(written)
    except ValueError:
        return False
    return True


def _moment(option: str, written: str, days: int = 0) -> str:
    try:
        moment = datetime.fromisoformat(written) + timedelta(days=days)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ConfigError(
            f"{option} {written} is no date; expected for example 2026-01-31, or 2026-01-31T18:30."
        ) from error
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
