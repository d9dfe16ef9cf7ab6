"""Whether a passage to learn from is one to be tested on: by the title of its article and by its words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from densephrases.data.squad import read_squad
from densephrases.text.passages import Passage

GRAM = 8  # words in a row that two texts hardly share by chance

Reason = Literal["title", "overlap"]

_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class LeakReport:
    """What became of the passages that were checked."""

    checked: int = 0
    title: int = 0  # left out: of an article that is held out
    overlap: int = 0  # left out: has eight words in a row of a passage that is held out

    @property
    def clean(self) -> int:
        return self.checked - self.title - self.overlap

    def __str__(self) -> str:
        return (
            f"{self.checked:,} passages checked, {self.title:,} left out by title "
            f"and {self.overlap:,} by {GRAM} words in a row"
        )


class HeldOut:
    """The articles and passages of test files, which no training data may contain."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.titles = {_title(passage.title) for passage in passages} - {""}
        self.grams = {gram for passage in passages for gram in grams(passage.text)}

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "HeldOut":
        return cls([p.passage for path in paths for p in read_squad(path)])

    def reason(self, passage: Passage) -> Reason | None:
        """Why the passage may not be learned from; None if it may."""
        if _title(passage.title) in self.titles:
            return "title"
        if self.grams and any(gram in self.grams for gram in grams(passage.text)):
            return "overlap"
        return None

    def admits(self, passage: Passage, report: LeakReport) -> bool:
        """Whether it may be learned from; the answer is counted in the report."""
        report.checked += 1
        reason = self.reason(passage)
        if reason is not None:
            setattr(report, reason, getattr(report, reason) + 1)
        return reason is None


def grams(text: str) -> Iterator[str]:
    """All runs of eight words, in lower case and without punctuation; of a shorter text the whole."""
    words = _WORD.findall(text.lower())
    for at in range(max(len(words) - GRAM + 1, min(len(words), 1))):
        yield " ".join(words[at : at + GRAM])


def _title(title: str) -> str:
    return " ".join(_WORD.findall(title.replace("_", " ").lower()))
