"""Relation extraction: the object of one relation for many subjects (the paper's dense knowledge base)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from densephrases.errors import ConfigError, DataError
from densephrases.search.answers import Answer
from densephrases.search.request import SearchRequest

Search = Callable[..., list[list[Answer]]]
"""`PhraseIndex.search` for several questions."""

SLOT = "{subject} [SEP] {relation}"  # the input of query encoders trained on slot filling
# For models trained on questions only: finds 37.8% of facts, SLOT 32.8% (docs/evaluation.md).
QUESTION = "what is the {relation} of {subject}?"

# Results among which the subject's own document is preferred: finds 42.9% of facts instead of 37.8%.
_RESULTS = 50
_SUBJECTS_AT_ONCE = 256
_QUALIFIER = re.compile(r"\s*\([^()]*\)$")


@dataclass(frozen=True, slots=True)
class Fact:
    """The answer that is the object of a subject's relation; None if no answer was confident enough."""

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
class RelationQuery:
    """What is asked of each subject.

    Attributes:
        relation: Such as "place of birth".
        template: The question, which contains {subject} and may contain {relation}.
        prefer_titles: Whether documents titled with the subject come before others.
        min_confidence: Answers below this probability are dropped.
    """

    relation: str
    template: str = QUESTION
    prefer_titles: bool = True
    min_confidence: float = 0.0

    def __post_init__(self) -> None:
        if not self.relation.strip():
            raise ConfigError("The relation is empty; expected words such as 'place of birth'.")
        if "{subject}" not in self.template:
            raise ConfigError(f"template={self.template!r} does not name the {{subject}}; expected as in {QUESTION!r}.")

    def question(self, subject: str) -> str:
        return self.template.replace("{relation}", self.relation).replace("{subject}", subject)


def extract_facts(
    search: Search, subjects: Sequence[str], query: RelationQuery, advance: Callable[[int], None]
) -> Iterator[Fact]:
    """One fact per subject, in order; `advance` is called with the number of subjects done since its last call."""
    if empty := [number for number, subject in enumerate(subjects, start=1) if not subject.strip()]:
        raise DataError(f"Subject {empty[0]} is empty; expected a name.")
    k = _RESULTS if query.prefer_titles else 1
    request = SearchRequest(k=k, min_confidence=query.min_confidence, overlapping=True)
    for first in range(0, len(subjects), _SUBJECTS_AT_ONCE):
        batch = subjects[first : first + _SUBJECTS_AT_ONCE]
        found = search([query.question(subject) for subject in batch], request=request)
        for subject, answers in zip(batch, found, strict=True):
            best = prefer_titled(answers, subject) if query.prefer_titles else answers
            yield Fact(subject, query.relation, best[0] if best else None)
        advance(len(batch))


def prefer_titled(answers: Sequence[Answer], subject: str) -> list[Answer]:
    """Answers from documents titled with the subject first; "Paris (Texas)" counts as titled "Paris"."""

    def distance(answer: Answer) -> int:
        title = answer.document.title
        return 0 if title.casefold() == subject.strip().casefold() else 1 if _plain(title) == _plain(subject) else 2

    return sorted(answers, key=distance)


def _plain(title: str) -> str:
    return _QUALIFIER.sub("", title.strip()).casefold()
