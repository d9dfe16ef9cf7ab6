"""Relation extraction: the object of one relation for many subjects (the paper's dense knowledge base)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from densephrases.errors import ConfigError, DataError
from densephrases.search.answers import Answer
from densephrases.search.facts.relation_table import Relation, known_relation
from densephrases.search.request import SearchRequest

Search = Callable[..., Sequence[Sequence[Answer]]]
"""`AnsweringIndex.search` for several questions."""

SLOT = "{subject} [SEP] {relation}"  # the input of query encoders trained on slot filling
# For models trained on questions only: finds 37.8% of facts, SLOT 32.8% (docs/evaluation.md).
QUESTION = "what is the {relation} of {subject}?"

# Results among which the subject's own document is preferred: finds 42.9% of facts instead of 37.8%.
_RESULTS = 50
_SUBJECTS_AT_ONCE = 256
_QUALIFIER = re.compile(r"\s*\([^()]*\)$")
_FEWEST_LETTERS = 4  # of a last name that stands for the whole one
LEAST_CONFIDENCE = 0.1  # of an object, unless a caller says otherwise; benchmarks/relations.py compares others


@dataclass(frozen=True, slots=True)
class Fact:
    """A subject's relation and its object, which is an answer.

    Attributes:
        subject: As it was asked for.
        relation: As it was asked for.
        answer: With the sentence and the document that state it; None if no answer was confident enough.
    """

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
        template: The question, which contains {subject} and may contain {relation}; None takes the questions for
            the relation, or `QUESTION` for one that is not in the table.
        prefer_titles: Whether documents titled with the subject come before others.
        min_confidence: Answers below this probability are dropped; None drops those below 0.1, if the model knows.
        anywhere: Whether to take answers from text that does not name the subject, or does not state the relation.
        aliases: Further names of subjects.
    """

    relation: str
    template: str | None = None
    prefer_titles: bool = True
    min_confidence: float | None = None
    anywhere: bool = False
    aliases: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        if not self.relation.strip():
            raise ConfigError("The relation is empty; expected words such as 'place of birth'.")
        if self.template is not None and "{subject}" not in self.template:
            raise ConfigError(f"template={self.template!r} does not name the {{subject}}; expected as in {QUESTION!r}.")

    @property
    def known(self) -> Relation | None:
        return known_relation(self.relation)

    def questions(self, subject: str) -> list[str]:
        """The best answer to any of them counts."""
        templates: tuple[str, ...] = (QUESTION,) if self.known is None else self.known.questions
        if self.template is not None:
            templates = (self.template,)
        return [each.replace("{relation}", self.relation).replace("{subject}", subject) for each in templates]

    def admits(self, answer: Answer, names: Sequence[str]) -> bool:
        """Whether an answer can be the object for a subject with these names, by the text around it."""
        if self.min_confidence is None and answer.confidence is not None and answer.confidence < LEAST_CONFIDENCE:
            return False
        if self.anywhere:
            return True
        if _says_no_more(answer.phrase.text, names) or not is_about(answer, names):
            return False
        return self.known is None or self.known.admits(answer)


def extract_facts(
    search: Search, subjects: Sequence[str], query: RelationQuery, advance: Callable[[int], None]
) -> Iterator[Fact]:
    """One fact per subject, in order; `advance` is called with the number of subjects done since its last call."""
    if empty := [number for number, subject in enumerate(subjects, start=1) if not subject.strip()]:
        raise DataError(f"Subject {empty[0]} is empty; expected a name.")
    is_first_enough = query.anywhere and not query.prefer_titles
    k = 1 if is_first_enough else _RESULTS
    request = SearchRequest(
        k=k, min_confidence=query.min_confidence or 0.0, overlapping=True, verify=0, allow_partial=False
    )
    for first in range(0, len(subjects), _SUBJECTS_AT_ONCE):
        batch = subjects[first : first + _SUBJECTS_AT_ONCE]
        asked = [query.questions(subject) for subject in batch]
        found = iter(search([question for several in asked for question in several], request=request))
        for subject, several in zip(batch, asked, strict=True):
            names = (subject, *(query.aliases or {}).get(subject, ()))
            yield Fact(subject, query.relation, _best([next(found) for _ in several], names, query))
        advance(len(batch))


def _best(found: Sequence[Sequence[Answer]], names: Sequence[str], query: RelationQuery) -> Answer | None:
    """The most confident of the first admissible answers to each question; of equals that of the first question."""
    first: list[Answer] = []
    for answers in found:
        ranked = prefer_titled(answers, names[0]) if query.prefer_titles else answers
        first += [answer for answer in ranked if query.admits(answer, names)][:1]
    return max(first, key=lambda answer: answer.confidence or 0.0, default=None)


def is_about(answer: Answer, names: Sequence[str]) -> bool:
    """Whether the document is titled with a name of the subject, or the answer's sentence has one.

    The last word of a name stands for it too, unless the document is about another of that name.
    """
    title = _plain(answer.document.title)
    if title in {_plain(name) for name in names}:
        return True
    return any(_mentions(answer.sentence, name) for name in (*names, *_last_names(names, title)))


def _last_names(names: Sequence[str], title: str) -> list[str]:
    """Of names of several words in capitals, except for those in a title."""
    lasts = [words[-1] for name in names if len(words := name.split()) in (2, 3) and name.istitle()]
    return [last for last in lasts if len(last) >= _FEWEST_LETTERS and last.isalpha() and not _mentions(title, last)]


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(_plain(name))}(?!\w)", text.casefold()) is not None


def _says_no_more(phrase: str, names: Sequence[str]) -> bool:
    """Whether it only repeats the subject."""
    words = set(phrase.casefold().split())
    return any(words <= set(_plain(name).split()) for name in names)


def prefer_titled(answers: Sequence[Answer], subject: str) -> list[Answer]:
    """Answers from documents titled with the subject first; "Paris (Texas)" counts as titled "Paris"."""

    def distance(answer: Answer) -> int:
        title = answer.document.title
        return 0 if title.casefold() == subject.strip().casefold() else 1 if _plain(title) == _plain(subject) else 2

    return sorted(answers, key=distance)


def _plain(title: str) -> str:
    return _QUALIFIER.sub("", title.strip()).casefold()
