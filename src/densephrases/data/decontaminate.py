"""Keeps test data out of training data: by article title, by shared word sequences and by the question's text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from densephrases.data.formats import READERS, recognise
from densephrases.data.squad import questions_of, read_squad
from densephrases.errors import DataError
from densephrases.text.normalize import normalize_answer
from densephrases.text.passages import Passage

GRAM = 8  # words: texts rarely share a sequence of this length by chance

Reason = Literal["title", "overlap"]

_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class LeakReport:
    """How many passages and questions were checked, and how many left out for each reason."""

    checked: int = 0
    title: int = 0  # the article is held out
    overlap: int = 0  # shares a sequence of `GRAM` words with a passage that is held out
    checked_questions: int = 0
    questions: int = 0  # have the text of a question that is held out

    @property
    def clean(self) -> int:
        return self.checked - self.title - self.overlap

    def __str__(self) -> str:
        passages = (
            f"{self.checked:,} passages checked, {self.title:,} left out by title "
            f"and {self.overlap:,} by a shared sequence of {GRAM} words"
        )
        if not self.checked_questions:
            return passages
        return f"{passages}; {self.checked_questions:,} questions checked, {self.questions:,} left out by their text"


class HeldOut:
    """Articles, passages and questions of test files, which training data must not contain."""

    def __init__(self, passages: Sequence[Passage], questions: Iterable[str] = ()) -> None:
        self.titles = {_title(passage.title) for passage in passages} - {""}
        self.grams = {gram for passage in passages for gram in grams(passage.text)}
        self.questions = {normalize_answer(question) for question in questions} - {""}

    @classmethod
    def read(cls, paths: Sequence[Path]) -> "HeldOut":
        """From SQuAD files, and from question files, which hold out nothing but the texts of their questions."""
        passages: list[Passage] = []
        questions: list[str] = []
        for path in paths:
            if _has_passages(path):
                found = read_squad(path)
                passages += [p.passage for p in found]
                questions += [question.text for _, question in questions_of(found)]
            else:
                questions += [question.text for question in READERS[recognise(path)](path)]
        return cls(passages, questions)

    def reason(self, passage: Passage) -> Reason | None:
        """Why the passage must not be trained on; None if it may."""
        if _title(passage.title) in self.titles:
            return "title"
        if self.grams and not self.grams.isdisjoint(grams(passage.text)):
            return "overlap"
        return None

    def admits(self, passage: Passage, report: LeakReport) -> bool:
        """Whether the passage may be trained on; counted in the report."""
        report.checked += 1
        reason = self.reason(passage)
        if reason is not None:
            setattr(report, reason, getattr(report, reason) + 1)
        return reason is None

    def admits_question(self, text: str, report: LeakReport) -> bool:
        """Whether a question may be trained on; case, punctuation and articles make no difference."""
        report.checked_questions += 1
        held_out = normalize_answer(text) in self.questions
        report.questions += held_out
        return not held_out


def grams(text: str) -> Iterator[tuple[str, ...]]:
    """All sequences of `GRAM` words, in lower case and without punctuation; a shorter text as a whole."""
    words = _WORD.findall(text.lower())
    if 0 < len(words) < GRAM:
        return iter([tuple(words)])
    return zip(*(words[at:] for at in range(GRAM)), strict=False)


def _has_passages(path: Path) -> bool:
    """Whether it is to be read as SQuAD JSON, which also says what is wrong with a file that is nothing else."""
    if not path.is_file():
        return not path.is_dir()
    try:
        return recognise(path) == "squad"
    except DataError:
        return True


def _title(title: str) -> str:
    return " ".join(_WORD.findall(title.replace("_", " ").lower()))
