"""Lists given as text files, and counts in sentences."""

from collections.abc import Sequence
from pathlib import Path

from densephrases.errors import DataError, first_line
from densephrases.text.readers.files import UNREADABLE, read_text


def read_lines(path: Path) -> list[str]:
    """The non-blank lines of a text file."""
    try:
        lines = read_text(path).split("\n")
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"'{path}' cannot be read: {reason}.") from error
    return [line.rstrip("\r") for line in lines if line.strip()]


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
