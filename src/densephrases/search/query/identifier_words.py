"""Identifiers of a question: `max_wal_size`, `--depth`, CVE-2024-3094, "connection refused"; they match exactly."""

import re
from functools import lru_cache

_QUOTED = re.compile(r"`([^`]+)`|\"([^\"]+)\"|\u201c([^\u201d]+)\u201d")
_TOKEN = re.compile(r"(?<![\w-])-{0,2}\w(?:[\w.:/-]*\w)?|\u00a7\s?\w+")
_MARKS = (
    re.compile(r"\w_\w"),
    re.compile(r"-{1,2}[^\W\d_]"),  # an option, at the beginning
    re.compile(r"[^\W\d_][\w-]*\d|\d[\w-]*[^\W\d_]"),  # letters and digits
    re.compile(r"[^\W\d_][a-z]+[A-Z]"),  # capitals inside
    re.compile(r"[^\W\d_]{2}(?:\.|::)[^\W\d_]{2}"),  # names joined by dots, unlike abbreviations
    re.compile(r"\u00a7"),
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s)", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\s*\n\s*\n\s*")
_LONGEST_HEADING = 120  # characters of a line that may be one
_SENTENCE_ENDS = (".", "!", "?", ";", ",", "\u3002")


@lru_cache(4096)
def identifiers_of(question: str) -> tuple[str, ...]:
    """Quoted strings, and words that no prose would have; ordinals and decades are prose."""
    quoted = ["".join(groups).strip() for groups in _QUOTED.findall(question)]
    words = _TOKEN.findall(_QUOTED.sub(" ", question))
    found = [word for word in words if _is_identifier(word)]
    return tuple(dict.fromkeys(each for each in (*quoted, *found) if each))


def _is_identifier(word: str) -> bool:
    if _ORDINAL.fullmatch(word):
        return False
    at_begin = _MARKS[1].match(word) is not None
    return at_begin or any(mark.search(word) for number, mark in enumerate(_MARKS) if number != 1)


@lru_cache(4096)
def whole_identifier(identifier: str) -> re.Pattern[str]:
    """Finds it where it is no part of another; case counts if it has capitals, and any space stands for a space."""
    flags = re.NOFLAG if any(letter.isupper() for letter in identifier) else re.IGNORECASE
    written = r"\s+".join(map(re.escape, identifier.split()))
    return re.compile(rf"(?<![\w-]){written}(?![\w-])", flags)


def heading_above(before: str) -> str | None:
    """The last heading of the text before a paragraph; None if there is none."""
    return next((each for each in reversed(_PARAGRAPH.split(before)) if is_heading(each)), None)


def paragraph_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The offsets of the paragraphs that a span is in, between blank lines."""
    first = max((match.end() for match in _PARAGRAPH.finditer(text, 0, start)), default=0)
    following = _PARAGRAPH.search(text, end)
    return first, len(text) if following is None else following.start()


def is_heading(paragraph: str) -> bool:
    """One short line that ends no sentence."""
    line = paragraph.strip()
    return 0 < len(line) <= _LONGEST_HEADING and "\n" not in line and not line.endswith(_SENTENCE_ENDS)
