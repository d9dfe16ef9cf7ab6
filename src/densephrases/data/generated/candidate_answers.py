"""Candidate answers: named entities as in the paper; optionally noun phrases, numbers and dates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import Any

from densephrases.errors import MissingExtraError

PIPELINE = "en_core_web_sm"
MAX_WORDS = 20  # the longest phrase that a phrase model finds


class AnswerKind(StrEnum):  # Typer takes a list of these, but no list of Literals
    entities = "entities"
    nouns = "nouns"
    numbers = "numbers"
    dates = "dates"


@dataclass(frozen=True, slots=True)
class CandidateAnswer:
    text: str
    start: int  # character position in the passage
    type: str  # the entity label, or NOUN_PHRASE, NUMBER, DATE_PHRASE

    @property
    def end(self) -> int:
        return self.start + len(self.text)


TypedSpan = tuple[int, int, str]  # first character, end, type

_MONTH = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Jan\.|Feb\.|Aug\.|Sept\.|Oct\.|Nov\.|Dec\.)"
)
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATE = re.compile(
    rf"\b(?:\d{{1,2}} {_MONTH}(?:,? {_YEAR})?|{_MONTH} \d{{1,2}}(?:, {_YEAR})?|{_MONTH},? {_YEAR}|{_YEAR})\b"
)
_NUMBER = re.compile(r"(?<![\w.,])[$€£]?\d+(?:,\d{3})*(?:\.\d+)?(?: ?%| (?:million|billion|percent))?(?![\w]|[.,]\d)")
_LEADING = re.compile(r"^(?:(?:the|a|an|this|that|these|those|its|his|her|their|our|my|your)\s+)+", re.IGNORECASE)
_TRAILING = re.compile(r"(?:['\u2019]s?|[\s,;:.]+)$")


def answers_from_spans(text: str, spans: Iterable[TypedSpan]) -> list[CandidateAnswer]:
    """Cleaned answers in text order, without repeated wordings and without repeated positions."""
    found: dict[str, CandidateAnswer] = {}
    taken: set[tuple[int, int]] = set()
    for begin, end, kind in spans:
        start, phrase = _clean(text, begin, end)
        place, key = (start, start + len(phrase)), phrase.lower()
        if not phrase or len(phrase.split()) > MAX_WORDS or "\n" in phrase or place in taken or key in found:
            continue
        taken.add(place)
        found[key] = CandidateAnswer(phrase, start, kind)
    return sorted(found.values(), key=lambda candidate: (candidate.start, candidate.end))


def _clean(text: str, begin: int, end: int) -> tuple[int, str]:
    phrase = text[begin:end]
    start = begin + len(phrase) - len(phrase.lstrip())
    phrase = phrase.strip()
    return start, _TRAILING.sub("", phrase) if not re.search(r"\.\w*\.$|\b\w\.$", phrase) else phrase


def pattern_spans(text: str, kinds: Sequence[AnswerKind]) -> Iterator[TypedSpan]:
    """Dates and numbers found by regular expressions, without a spaCy pipeline."""
    if AnswerKind.dates in kinds:
        yield from ((*match.span(), "DATE_PHRASE") for match in _DATE.finditer(text))
    if AnswerKind.numbers in kinds:
        yield from ((*match.span(), "NUMBER") for match in _NUMBER.finditer(text))


class AnswerExtractor:
    """Finds the candidate answers of passages. Only entities and noun phrases need spaCy."""

    def __init__(self, kinds: Sequence[AnswerKind], pipeline: str = PIPELINE) -> None:
        self.kinds = tuple(kinds)
        needed = {AnswerKind.entities, AnswerKind.nouns}.intersection(kinds)
        self.pipeline = load_pipeline(pipeline, needed) if needed else None

    def __call__(self, texts: Sequence[str]) -> list[list[CandidateAnswer]]:
        parsed: Iterable[Any] = [None] * len(texts) if self.pipeline is None else self.pipeline.pipe(texts)
        return [
            answers_from_spans(text, [*self._parsed_spans(document), *pattern_spans(text, self.kinds)])
            for text, document in zip(texts, parsed, strict=True)
        ]

    def _parsed_spans(self, document: Any) -> Iterator[TypedSpan]:
        if document is None:
            return
        if AnswerKind.entities in self.kinds:
            yield from ((entity.start_char, entity.end_char, entity.label_) for entity in document.ents)
        if AnswerKind.nouns in self.kinds:
            yield from (span for chunk in document.noun_chunks if (span := noun_phrase(chunk)) is not None)


def noun_phrase(chunk: Any) -> TypedSpan | None:
    """A noun chunk without leading articles and possessives; None if nothing or only a pronoun is left."""
    if chunk.root.pos_ == "PRON":
        return None
    leading = _LEADING.match(chunk.text)
    begin = chunk.start_char + (leading.end() if leading else 0)
    return (begin, chunk.end_char, "NOUN_PHRASE") if begin < chunk.end_char else None


def load_pipeline(name: str, needed: set[AnswerKind]) -> Any:
    if find_spec("spacy") is None:
        raise MissingExtraError(
            "Finding entities and noun phrases needs spacy; install it with: pip install 'densephrases[questions]'"
        )
    import spacy

    unused = ["lemmatizer", *([] if AnswerKind.nouns in needed else ["parser", "tagger", "attribute_ruler"])]
    try:
        return spacy.load(name, exclude=unused)
    except OSError as error:
        raise MissingExtraError(
            f"spaCy has no pipeline '{name}'; install it with: python -m spacy download {name}, or choose another."
        ) from error
