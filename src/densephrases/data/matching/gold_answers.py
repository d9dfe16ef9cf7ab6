"""The gold answers of a question: whether a phrase is right and whether a passage has an answer."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from densephrases.data.matching.answer_scan import AnswerScanner, pattern_occurs_in
from densephrases.data.matching.em_f1 import best_over_answers, f1
from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.data.questions import OpenQuestion
from densephrases.text.normalize import normalize_answer


class GoldAnswers(ABC):
    @abstractmethod
    def right(self, phrase: str) -> bool: ...

    @abstractmethod
    def f1(self, phrase: str) -> float: ...

    @abstractmethod
    def occur_in(self, passage: str, squeezed: str) -> bool:
        """Whether a phrase of the passage is right. `squeezed` is `squeeze(passage)`, which many questions share."""


def gold_answers_of(question: OpenQuestion, max_words: int) -> GoldAnswers:
    """Regular expressions match phrases of at most `max_words` words."""
    return RegexAnswers(question.answers, max_words) if question.regex else TextAnswers(question.answers)


def squeeze(text: str) -> str:
    """The normal form without spaces: that of a phrase is a substring of that of its text.

    Both lower-case forms of sigma become one: which one a capital turns into depends on the next letter.
    """
    return normalize_answer(text).replace(" ", "").replace("\u03c2", "\u03c3")


class TextAnswers(GoldAnswers):
    """Compared by their normal form, as in SQuAD's evaluation."""

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


class RegexAnswers(GoldAnswers):
    """Matched as regular expressions; F1 is 0 or 1, because a pattern has no words to overlap with."""

    def __init__(self, sources: Sequence[str], max_words: int) -> None:
        self.patterns = [PatternAnswer(source) for source in sources]
        self.max_words = max_words

    def right(self, phrase: str) -> bool:
        return any(pattern.matches(phrase) for pattern in self.patterns)

    def f1(self, phrase: str) -> float:
        return float(self.right(phrase))

    def occur_in(self, passage: str, squeezed: str) -> bool:
        return any(pattern_occurs_in(pattern, passage, self.max_words) for pattern in self.patterns)
