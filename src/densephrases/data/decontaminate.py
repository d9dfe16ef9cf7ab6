"""Keeps test data out of training data: by the title of the article and by shared word sequences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from densephrases.data.squad import read_squad
from densephrases.text.passages import Passage

GRAM = 8  # words: texts rarely share a sequence of this length by chance

Reason = Literal["title", "overlap"]

_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class LeakReport:
    """How many passages were checked, and how many left out for each reason."""

    checked: int = 0
    title: int = 0  # the article is held out
    overlap: int = 0  # shares a sequence of `GRAM` words with a passage that is held out

    @property
    def clean(self) -> int:
        return self.checked - self.title - self.overlap

    def __str__(self) -> str:
        return (
            f"{self.checked:,} passages checked, {self.title:,} left out by title "
            f"and {self.overlap:,} by a shared sequence of {GRAM} words"
        )


class HeldOut:
    """Articles and passages of test files, which training data must not contain."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.titles = {_title(passage.title) for passage in passages} - {""}
        self.grams = {gram for passage in passages for gram in grams(passage.text)}

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "HeldOut":
        return cls([p.passage for path in paths for p in read_squad(path)])

    def reason(self, passage: Passage) -> Reason | None:
        """Why the passage must not be trained on; None if it may."""
        if _title(passage.title) in self.titles:
            return "title"
        if self.grams and any(gram in self.grams for gram in grams(passage.text)):
            return "overlap"
        return None

    def admits(self, passage: Passage, report: LeakReport) -> bool:
        """Whether the passage may be trained on; counted in the report."""
        report.checked += 1
        reason = self.reason(passage)
        if reason is not None:
            setattr(report, reason, getattr(report, reason) + 1)
        return reason is None


def grams(text: str) -> Iterator[str]:
    """All sequences of `GRAM` words, in lower case and without punctuation; a shorter text as a whole."""
    words = _WORD.findall(text.lower())
    for at in range(max(len(words) - GRAM + 1, min(len(words), 1))):
        yield " ".join(words[at : at + GRAM])


def _title(title: str) -> str:
    return " ".join(_WORD.findall(title.replace("_", " ").lower()))
