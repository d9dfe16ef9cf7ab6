"""What a question's right answers say of a phrase and of a passage."""

from collections.abc import Sequence
from typing import Protocol

from densephrases.data.matching.answer_scan import AnswerScanner, pattern_occurs_in
from densephrases.data.matching.em_f1 import best_over_answers, f1
from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.data.questions import OpenQuestion
from densephrases.text.normalize import normalize_answer


class Golds(Protocol):
    def right(self, phrase: str) -> bool: ...
    def f1(self, phrase: str) -> float: ...
    def occur_in(self, passage: str, squeezed: str) -> bool:
        """Whether some phrase of the passage is right; given also as `squeeze` makes it, once for all questions."""


def gold_answers_of(question: OpenQuestion, max_words: int) -> Golds:
    return RegexAnswers(question.answers, max_words) if question.regex else TextAnswers(question.answers)


def squeeze(text: str) -> str:
    """The normal form without spaces. Of every phrase of a text it is a part of the text's own.

    A capital sigma has two small ones, by what follows it: here they are one.
    """
    return normalize_answer(text).replace(" ", "").replace("\u03c2", "\u03c3")


class TextAnswers:
    """Matched by the normal form of SQuAD's evaluation."""

    def __init__(self, answers: Sequence[str]) -> None:
        self.answers = answers
        self._forms = {normalize_answer(answer) for answer in answers}

    def right(self, phrase: str) -> bool:
        return normalize_answer(phrase) in self._forms

    def f1(self, phrase: str) -> float:
        return best_over_answers(f1, phrase, self.answers) if self.answers else 0.0

    def occur_in(self, passage: str, squeezed: str) -> bool:
        likely = [form for form in self._forms if squeeze(form) in squeezed]
        scanner = AnswerScanner((0, form) for form in likely)
        scanner.scan(passage)
        return bool(scanner.found)


class RegexAnswers:
    """Matched as patterns; between right and wrong there is no overlap of words to be measured."""

    def __init__(self, sources: Sequence[str], max_words: int) -> None:
        self.patterns = [PatternAnswer(source) for source in sources]
        self.max_words = max_words

    def right(self, phrase: str) -> bool:
        return any(pattern.matches(phrase) for pattern in self.patterns)

    def f1(self, phrase: str) -> float:
        return float(self.right(phrase))

    def occur_in(self, passage: str, squeezed: str) -> bool:
        return any(pattern_occurs_in(pattern, passage, self.max_words) for pattern in self.patterns)
