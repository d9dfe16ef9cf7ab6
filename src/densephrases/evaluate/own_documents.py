"""How well an index answers about its own documents: questions made from them by rule, or those of a user.

Generated questions repeat the words of a sentence that is in the index. What they measure is whether that sentence is
found and the right phrase of it chosen; questions of people, in their own words, are answered less often.
"""

import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import median, quantiles
from typing import Any

from densephrases.data.generated.sentence_questions import READ_CHARACTERS, SentenceQuestion, sentence_questions
from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1
from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.data.questions import OpenQuestion
from densephrases.errors import DataError
from densephrases.search.answers import Answer
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest

AMONG = 5
SURE = 0.6  # from this confidence on an answer counts as sure
RIGHT = 0.5  # least F1 of a right answer
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_SAMPLED_DOCUMENTS = 500
_SAMPLED_CHARACTERS = 2_000_000  # of all of them, unless the first pages of each have more
_ABSENT_SHARE = 0.25
_SHOWN_MISTAKES = 5
_NAME = re.compile(r"(?<=\s)[A-Z][\w'\u2019-]+(?: [A-Z][\w'\u2019-]+)*")
_SYLLABLES = ("bra", "dul", "fen", "gor", "hax", "jil", "kam", "lor", "mev", "nul", "pyx", "quo", "rith", "tolb", "vex")
_ABOUT_NOBODY = ("When was {} born?", "Who founded {}?", "Where is {}?", "What is {}?")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the answers that are right, and what was found; without right answers it asks for what is absent."""

    question: str
    expected: tuple[str, ...]
    answers: Sequence[Answer]
    milliseconds: float
    regex: bool = False

    @property
    def confidence(self) -> float | None:
        return self.answers[0].confidence if self.answers else 0.0

    def is_right(self, answer: Answer) -> bool:
        if self.regex:
            return any(PatternAnswer(source).matches(answer.phrase.text) for source in self.expected)
        return bool(self.expected) and best_over_answers(f1, answer.phrase.text, self.expected) >= RIGHT

    @property
    def first_is_right(self) -> bool:
        return any(map(self.is_right, self.answers[:1]))


@dataclass(frozen=True, slots=True)
class ConfidenceBand:
    """Questions whose first answer has a confidence from `least` on and below `below`; `right` in percent."""

    least: float
    below: float
    questions: int
    right: float | None


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong first answer that was sure."""

    question: str
    expected: tuple[str, ...]
    answer: str
    confidence: float
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReport:
    """Shares in percent, None where there was no question to count.

    Attributes:
        questions: Those that the documents answer.
        generated: Whether they were made from the documents by rule.
        first: Those whose first answer is right: at least half of its words and of the expected ones agree (F1).
        exact: Those whose first answer is exactly the expected one, but for case, articles and punctuation.
        among_five: Those with a right answer among the first five.
        bands: All questions by the confidence of their first answer; those about what is absent count as wrong.
        sure: Those that are answered with a confidence of at least `SURE`, and `sure_right` of these.
        absent: Questions whose answer is not in the documents: an invented name, or a user's without an answer.
        absent_sure: Those of them that were answered with a confidence of at least `SURE`.
        wrong_but_sure: How many first answers were wrong with a confidence of at least `SURE`.
        mistakes: The most confident of these.
        median_milliseconds: Of a question asked alone.
        slow_milliseconds: 95 of 100 questions take less.
    """

    questions: int
    generated: bool
    first: float | None
    exact: float | None
    among_five: float | None
    bands: list[ConfidenceBand]
    sure: float | None
    sure_right: float | None
    absent: int
    absent_sure: float | None
    wrong_but_sure: int
    mistakes: list[Mistake]
    median_milliseconds: float
    slow_milliseconds: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def own_questions(index: PhraseIndex, count: int, seed: int = 0) -> list[OpenQuestion]:
    """Up to `count` questions made from documents all over the index, and a quarter as many about invented names."""
    sampled = list(index.folder.sample(_SAMPLED_DOCUMENTS))
    characters = max(_SAMPLED_CHARACTERS // max(len(sampled), 1), READ_CHARACTERS)
    found = _mixed([list(sentence_questions(each, characters)) for each in sampled], count, seed)
    if not found:
        raise DataError(
            "No question can be made from these documents: no plain English sentence has a date, a number, a name or "
            "a definition. Give questions of your own with --questions."
        )
    asked = [OpenQuestion(str(n), each.question, (each.answer,)) for n, each in enumerate(found, start=1)]
    return [*asked, *_about_absent_names(asked, seed)]


def _mixed(by_document: Iterable[list[SentenceQuestion]], count: int, seed: int) -> list[SentenceQuestion]:
    """One question of each document in turn, in random order, until there are enough."""
    chance = random.Random(seed)  # noqa: S311  (chooses questions, guards nothing)
    left = [chance.sample(each, len(each)) for each in by_document if each]
    chosen: list[SentenceQuestion] = []
    while left and len(chosen) < count:
        chance.shuffle(left)
        chosen += [each.pop() for each in left[: count - len(chosen)]]
        left = [each for each in left if each]
    return chosen


def _about_absent_names(asked: Sequence[OpenQuestion], seed: int) -> list[OpenQuestion]:
    chance = random.Random(seed)  # noqa: S311
    named = [(each.text, names) for each in asked if (names := list(_NAME.finditer(each.text)))]
    questions = []
    for number in range(max(round(_ABSENT_SHARE * len(asked)), 1)):
        name = " ".join("".join(chance.sample(_SYLLABLES, 2)).capitalize() for _ in range(2))
        if number < len(named):
            text, names = named[number]
            longest = max(names, key=lambda found: len(found[0]))
            question = text[: longest.start()] + name + text[longest.end() :]
        else:
            question = _ABOUT_NOBODY[number % len(_ABOUT_NOBODY)].format(name)
        questions.append(OpenQuestion(f"absent-{number + 1}", question, ()))
    return questions


def ask_own(
    index: PhraseIndex,
    questions: Sequence[OpenQuestion],
    request: SearchRequest,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Asked]:
    """Each question alone, as users ask; the first one is asked twice, since it loads what all need."""
    asked: list[Asked] = []
    for each in [*questions[:1], *questions]:
        began = time.perf_counter()
        answers = index.search(each.text, request=request)
        milliseconds = 1000 * (time.perf_counter() - began)
        asked.append(Asked(each.text, each.answers, answers, milliseconds, each.regex))
        advance(1)
    return asked[1:]


def own_report(asked: Sequence[Asked], *, generated: bool) -> OwnReport:
    answerable = [each for each in asked if each.expected]
    absent = [each for each in asked if not each.expected]
    sure = [each for each in asked if (each.confidence or 0) >= SURE]
    wrong = sorted((each for each in sure if not each.first_is_right), key=lambda each: -(each.confidence or 0))
    times = [each.milliseconds for each in asked]
    return OwnReport(
        questions=len(answerable),
        generated=generated,
        first=_percent([each.first_is_right for each in answerable]),
        exact=_percent([_is_exact(each) for each in answerable]),
        among_five=_percent([any(map(each.is_right, each.answers[:AMONG])) for each in answerable]),
        bands=_bands(asked),
        sure=_percent([(each.confidence or 0) >= SURE for each in asked]),
        sure_right=_percent([each.first_is_right for each in sure]),
        absent=len(absent),
        absent_sure=_percent([(each.confidence or 0) >= SURE for each in absent]),
        wrong_but_sure=len(wrong),
        mistakes=[_mistake(each) for each in wrong[:_SHOWN_MISTAKES]],
        median_milliseconds=median(times),
        slow_milliseconds=quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0],
    )


def _is_exact(asked: Asked) -> bool:
    if asked.regex:
        return asked.first_is_right
    return any(best_over_answers(exact_match, each.phrase.text, asked.expected) for each in asked.answers[:1])


def _percent(truths: Sequence[bool]) -> float | None:
    return 100 * sum(truths) / len(truths) if truths else None


def _bands(asked: Sequence[Asked]) -> list[ConfidenceBand]:
    """None for models without confidences."""
    if any(each.confidence is None for each in asked):
        return []
    bands = []
    for least, below in pairwise(EDGES):
        is_last = below == EDGES[-1]
        here = [
            each for each in asked if least <= (each.confidence or 0) and ((each.confidence or 0) < below or is_last)
        ]
        bands.append(ConfidenceBand(least, below, len(here), _percent([each.first_is_right for each in here])))
    return bands


def _mistake(asked: Asked) -> Mistake:
    best = asked.answers[0]
    return Mistake(
        asked.question,
        asked.expected,
        best.phrase.text,
        best.confidence or 0.0,
        best.document.title or best.document.id,
    )
