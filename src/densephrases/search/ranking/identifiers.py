"""Identifiers of a question: `max_wal_size`, `--depth`, CVE-2024-3094, "connection refused". Only exact matches count.

Settings, options and codes stand in rows and entries that are otherwise alike, and their parts are words like any
other. So a phrase gains if the identifiers of the question stand near it, in its own row or sentence.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from densephrases.search.ranking.contenders import Contenders

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

# Shape suffix: N phrases.


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


def identifier_shares(contenders: Contenders, questions: Sequence[str]) -> NDArray[np.float64]:
    """(N,): the share of the question's identifiers that stand in the sentences around the phrase; 0 without any."""
    patterns = [[_whole(each) for each in identifiers_of(question)] for question in questions]
    shares_N = np.zeros(len(contenders))
    if any(patterns):
        rows = zip(contenders.question_N.tolist(), contenders.texts, contenders.sentences_N2.tolist(), strict=True)
        for number, (question, text, (first, last)) in enumerate(rows):
            wanted = patterns[question]
            if wanted:
                shares_N[number] = sum(p.search(text, first, last) is not None for p in wanted) / len(wanted)
    return shares_N


@lru_cache(4096)
def _whole(identifier: str) -> re.Pattern[str]:
    flags = re.NOFLAG if any(letter.isupper() for letter in identifier) else re.IGNORECASE
    return re.compile(rf"(?<![\w-]){re.escape(identifier)}(?![\w-])", flags)
