"""Where the gold answers of a question stand in a passage, character by character."""

import re
import string
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from densephrases.data.matching.answer_scan import first_words
from densephrases.data.matching.gold_answers import TextAnswers, squeeze
from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.data.questions import OpenQuestion
from densephrases.text.hashed_terms import terms
from densephrases.text.normalize import normalize_answer
from densephrases.text.sentences import TextSpan, sentence_spans
from densephrases.text.words import is_inside_word

# The longest text that a pattern such as `.*` is tried on at a time: short enough to backtrack over.
PATTERN_WORDS = 10
PATTERN_CHARACTERS = 100

_PUNCTUATION = f"[{re.escape(string.punctuation)}]*"
_BETWEEN_WORDS = rf"{_PUNCTUATION}\s(?:[\s{re.escape(string.punctuation)}]|\b(?:an?|the)\b)*"
_WORD_START = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class LocatedAnswer:
    """An answer as it is spelled in the passage, and the character at which it begins."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def is_significant(answer: str) -> bool:
    """Whether it says something wherever it occurs: not only stop words and punctuation, not a single letter."""
    form = normalize_answer(answer)
    return bool(terms(form)) and (len(form) > 1 or form.isdigit())


class AnswerLocator(ABC):
    """Finds the answers of one question."""

    @abstractmethod
    def locate(self, passage: str, squeezed: str) -> list[LocatedAnswer]:
        """Every place of every significant answer, in text order. `squeezed` is `squeeze(passage)`."""

    @abstractmethod
    def occurs_in(self, passage: str, squeezed: str) -> bool:
        """Whether the passage has any answer, significant or not."""

    @abstractmethod
    def aliases(self, chosen: LocatedAnswer, located: Sequence[LocatedAnswer]) -> tuple[str, ...]:
        """The other answers that are right, wherever they occur."""


def locator_of(question: OpenQuestion) -> AnswerLocator:
    return PatternLocator(question.answers) if question.regex else TextLocator(question.answers)


class TextLocator(AnswerLocator):
    """Answers that are texts: a phrase of whole words with the same normal form is one."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._all = TextAnswers(answers)
        self._answers = {normalize_answer(answer): answer for answer in reversed(answers) if is_significant(answer)}
        self._sought = [(form, squeeze(form), _spelling(form)) for form in self._answers]

    def locate(self, passage: str, squeezed: str) -> list[LocatedAnswer]:
        likely = [(form, spelling) for form, letters, spelling in self._sought if letters in squeezed]
        found = {place for form, spelling in likely for place in _places(spelling, form, passage)}
        return sorted(found, key=lambda place: (place.start, place.end))

    def occurs_in(self, passage: str, squeezed: str) -> bool:
        return self._all.occur_in(passage, squeezed)

    def aliases(self, chosen: LocatedAnswer, located: Sequence[LocatedAnswer]) -> tuple[str, ...]:
        form = normalize_answer(chosen.text)
        return tuple(answer for other, answer in reversed(self._answers.items()) if other != form)


def _spelling(form: str) -> str:
    """A pattern of the ways to write a normal form: with punctuation anywhere, with articles between words."""
    words = (_PUNCTUATION.join(re.escape(character) for character in word) for word in form.split())
    return _BETWEEN_WORDS.join(words)


def _places(spelling: str, form: str, passage: str) -> Iterator[LocatedAnswer]:
    for match in re.finditer(spelling, passage, re.IGNORECASE):
        place = LocatedAnswer(match[0], match.start())
        whole = not is_inside_word(passage, place.start) and not is_inside_word(passage, place.end)
        if whole and normalize_answer(place.text) == form:
            yield place


class PatternLocator(AnswerLocator):
    """Answers that are regular expressions: what they match from a word's beginning on, up to a word's end."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._patterns = [PatternAnswer(source) for source in sources]

    def locate(self, passage: str, squeezed: str) -> list[LocatedAnswer]:
        return [place for place in self._matches(passage) if is_significant(place.text)]

    def occurs_in(self, passage: str, squeezed: str) -> bool:
        return next(self._matches(passage), None) is not None

    def aliases(self, chosen: LocatedAnswer, located: Sequence[LocatedAnswer]) -> tuple[str, ...]:
        """What else the patterns match in the passage."""
        forms = {normalize_answer(place.text): place.text for place in reversed(located)}
        forms.pop(normalize_answer(chosen.text))
        return tuple(reversed(forms.values()))

    def _matches(self, passage: str) -> Iterator[LocatedAnswer]:
        folded = passage.casefold()
        likely = [pattern for pattern in self._patterns if pattern.may_match(folded)]
        after = 0
        for word in _WORD_START.finditer(passage) if likely else ():
            start = word.start()
            if start < after or is_inside_word(passage, start):
                continue
            window = first_words(passage, start, PATTERN_WORDS)[:PATTERN_CHARACTERS]
            end = max((_matched(pattern, window) for pattern in likely), default=0)
            if end:
                after = start + end
                while is_inside_word(passage, after):
                    after += 1
                yield LocatedAnswer(passage[start:after], start)


def _matched(pattern: PatternAnswer, window: str) -> int:
    """Characters that the pattern matches at the start, without space at the end."""
    match = pattern.compiled.match(window)
    return len(match[0].rstrip()) if match is not None else 0


def most_likely(question: str, passage: str, located: Sequence[LocatedAnswer]) -> LocatedAnswer:
    """The place in the sentence that shares most terms with the question; of several the longest, then the first."""
    if len(located) == 1:
        return located[0]
    asked = terms(question)
    sentences = [(span, len(asked & terms(passage[span.start : span.end]))) for span in sentence_spans(passage)]
    return max(located, key=lambda place: (_shared(sentences, place), len(place.text), -place.start))


def _shared(sentences: Sequence[tuple[TextSpan, int]], place: LocatedAnswer) -> int:
    return next((shared for span, shared in sentences if span.start <= place.start < span.end), 0)


def is_ambiguous(passage: str, place: LocatedAnswer) -> bool:
    """Whether the same string occurs elsewhere in the passage, too."""
    return passage.find(place.text) != place.start or passage.find(place.text, place.start + 1) >= 0
