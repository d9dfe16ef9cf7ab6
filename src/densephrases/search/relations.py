"""A table of facts: the object of one relation for many subjects (the paper's dense knowledge base)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from densephrases.errors import ConfigError, DataError
from densephrases.search.answers import Answer

Search = Callable[..., list[list[Answer]]]
"""`PhraseIndex.search` for several questions."""

SLOT = "{subject} [SEP] {relation}"  # what query encoders are trained on that are made for slots
# What a model understands that only knows questions: 37.8 instead of 32.8 of 100 facts (docs/evaluation.md).
QUESTION = "what is the {relation} of {subject}?"

# A subject's own document is preferred if it is among so many results: 42.9 instead of 37.8 of 100 facts.
_RESULTS = 50
_ASKED_AT_ONCE = 256
_REMARK = re.compile(r"\s*\([^()]*\)$")


@dataclass(frozen=True, slots=True)
class Fact:
    """The object of a subject's relation and where it stands; all None where no answer was sure enough."""

    subject: str
    relation: str
    answer: Answer | None

    @property
    def object(self) -> str | None:
        return None if self.answer is None else self.answer.text

    def to_dict(self) -> dict[str, Any]:
        """A row of a table."""
        answer = self.answer
        row: dict[str, Any] = {"subject": self.subject, "relation": self.relation, "object": self.object}
        if answer is None:
            return row | dict.fromkeys(("confidence", "score", "sentence", "document", "title", "start", "end"))
        return row | {
            "confidence": answer.confidence,
            "score": answer.score,
            "sentence": answer.sentence,
            "document": answer.document.id,
            "title": answer.document.title,
            "start": answer.start,
            "end": answer.end,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """How facts are asked for.

    Attributes:
        relation: Such as "place of birth".
        template: The question, with {subject} and, if need be, {relation} in it.
        prefer_titles: Whether documents whose title is the subject come before others.
        min_confidence: Answers with less confidence are left out.
        effort: Of the search, from 0 to 1.
    """

    relation: str
    template: str = QUESTION
    prefer_titles: bool = True
    min_confidence: float = 0.0
    effort: float = 0.5

    def __post_init__(self) -> None:
        if not self.relation.strip():
            raise ConfigError("The relation is empty; expected words such as 'place of birth'.")
        if "{subject}" not in self.template:
            raise ConfigError(f"template={self.template!r} does not name the {{subject}}; expected as in {QUESTION!r}.")

    def question(self, subject: str) -> str:
        return self.template.replace("{relation}", self.relation).replace("{subject}", subject)


def extract_facts(
    search: Search, subjects: Sequence[str], extraction: Extraction, advance: Callable[[int], None]
) -> Iterator[Fact]:
    """One fact a subject, in their order; `advance` is told how many are done."""
    if empty := [number for number, subject in enumerate(subjects, start=1) if not subject.strip()]:
        raise DataError(f"Subject {empty[0]} is empty; expected a name.")
    for first in range(0, len(subjects), _ASKED_AT_ONCE):
        batch = subjects[first : first + _ASKED_AT_ONCE]
        found = search(
            [extraction.question(subject) for subject in batch],
            k=_RESULTS if extraction.prefer_titles else 1,
            effort=extraction.effort,
            min_confidence=extraction.min_confidence,
        )
        for subject, answers in zip(batch, found, strict=True):
            best = prefer_titled(answers, subject) if extraction.prefer_titles else answers
            yield Fact(subject, extraction.relation, best[0] if best else None)
        advance(len(batch))


def prefer_titled(answers: Sequence[Answer], subject: str) -> list[Answer]:
    """Those from documents about the subject first; "Paris (Texas)" is one about Paris too."""

    def distance(answer: Answer) -> int:
        title = answer.document.title
        return 0 if title.casefold() == subject.strip().casefold() else 1 if _plain(title) == _plain(subject) else 2

    return sorted(answers, key=distance)


def _plain(title: str) -> str:
    return _REMARK.sub("", title.strip()).casefold()
