"""Training examples from annotated passages: a passage window with all questions that it answers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from densephrases.data.decontaminate import HeldOut, LeakReport
from densephrases.data.matching.em_f1 import normalize_answer
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, questions_of, read_squad
from densephrases.errors import DataError
from densephrases.model.tokenizer import Ids, TokenizedPassage, Tokens, Window
from densephrases.train.phrases.lexical_penalties import NO_TERMS, Terms, question_terms
from densephrases.train.typed_questions import typed_variants

Ambiguous = Literal["any", "given", "drop"]
TokenSpan = tuple[int, int]  # first and last token of a phrase
Wording = tuple[Ids, Terms, tuple[tuple[Ids, Terms], ...]]  # of a question: ids, terms, and those of its variants


@dataclass(frozen=True, slots=True)
class QuestionExample:
    id: str
    ids: Ids
    spans: tuple[TokenSpan, ...]  # in tokens of the passage; several if the occurrence is ambiguous
    answer: int  # equal for equal normalised answers
    generated: bool = False
    terms: Terms = field(default_factory=lambda: NO_TERMS)
    typed: tuple[tuple[Ids, Terms], ...] = ()  # ids and terms of the question as people might type it


@dataclass(frozen=True, slots=True)
class PassageExample:
    """A passage window with its questions, which is encoded once for all of them."""

    passage: int
    article: int
    window: Window
    questions: tuple[QuestionExample, ...]
    unanswerable: tuple[QuestionExample, ...] = ()  # which the window does not answer: without spans


@dataclass(slots=True)
class AlignmentReport:
    """What became of the questions; every dropped question is counted here."""

    questions: int = 0
    used: int = 0
    inexact: int = 0  # used, although the answer does not end at token boundaries
    ambiguous: int = 0  # used, although the position of the answer is a guess
    unanswerable: int = 0
    misplaced: int = 0  # the answer is not at its offset
    across_windows: int = 0  # no window contains the whole answer
    dropped_ambiguous: int = 0
    too_long: int = 0  # question or answer exceeds the maximum length
    held_out: int = 0  # passage is held out for tests

    def require_some(self) -> None:
        if not self.used:
            raise DataError(f"The training files contain no usable question: {self or 'they are empty'}.")

    def __str__(self) -> str:
        parts = [f"{count:,} {name.replace('_', ' ')}" for name, count in asdict(self).items() if count]
        return ", ".join(parts)


def read_training_data(paths: Sequence[Path]) -> list[QuestionedPassage]:
    """The passages of all files without duplicates; articles and question ids are made unique across files."""
    everything: list[QuestionedPassage] = []
    places: dict[tuple[str, str], int] = {}
    for number, path in enumerate(paths):
        passages = read_squad(path)
        repeated = [key for key, count in Counter(q.id for _, q in questions_of(passages)).items() if count > 1]
        if repeated:
            raise DataError(f"'{path}' has several questions with the id '{repeated[0]}'; ids must be unique.")
        first_article = everything[-1].article + 1 if everything else 0
        _merge(everything, places, [_in_file(passage, number, first_article) for passage in passages])
    return everything


def _merge(
    everything: list[QuestionedPassage], places: dict[tuple[str, str], int], passages: Sequence[QuestionedPassage]
) -> None:
    """Adds the passages of a file. A passage of an earlier file is not repeated but gets the additional questions.

    Files of generated questions repeat passages, and a repeated passage would be a negative of itself.
    """
    earlier = dict(places)
    for passage in passages:
        key = passage.passage.title, passage.passage.text
        if key in earlier:
            known = everything[earlier[key]]
            everything[earlier[key]] = replace(known, questions=known.questions + passage.questions)
        else:
            places[key] = len(everything)
            everything.append(passage)


def without_held_out(
    passages: Sequence[QuestionedPassage], held_out: HeldOut, report: AlignmentReport
) -> list[QuestionedPassage]:
    """The passages that share neither an article nor eight words in a row with the test files."""
    leaks = LeakReport()
    admitted = [passage for passage in passages if held_out.admits(passage.passage, leaks)]
    report.held_out += sum(len(p.questions) for p in passages) - sum(len(p.questions) for p in admitted)
    return admitted


def _in_file(passage: QuestionedPassage, file: int, first_article: int) -> QuestionedPassage:
    questions = tuple(replace(question, id=f"{file}:{question.id}") for question in passage.questions)
    return replace(passage, article=first_article + passage.article, questions=questions)


class ExampleBuilder:
    """Aligns answers with tokens, for one tokenizer."""

    def __init__(
        self,
        tokens: Tokens,
        ambiguous: Ambiguous = "any",
        typed: bool = False,
        report: AlignmentReport | None = None,
    ) -> None:
        self.tokens = tokens
        self.ambiguous = ambiguous
        self.typed = typed
        self.report = report or AlignmentReport()
        self._answers: dict[str, int] = {}

    def build(
        self, passages: Sequence[QuestionedPassage], tokenized: Sequence[TokenizedPassage]
    ) -> list[PassageExample]:
        asked = [q.text for p in passages for q in p.questions]
        wordings = zip(self.tokens.questions(asked), map(question_terms, asked), self._typed(asked), strict=True)
        return [
            example
            for number, (passage, tokens) in enumerate(zip(passages, tokenized, strict=True))
            for example in self._examples(number, passage, tokens, wordings)
        ]

    def _typed(self, questions: Sequence[str]) -> list[tuple[tuple[Ids, Terms], ...]]:
        if not self.typed:
            return [()] * len(questions)
        rng = np.random.default_rng(0)
        variants = [typed_variants(question, rng) for question in questions]
        ids = iter(self.tokens.questions([text for each in variants for text in each]))
        return [tuple((next(ids), question_terms(text)) for text in each) for each in variants]

    def unasked(
        self, passages: Sequence[QuestionedPassage], tokenized: Sequence[TokenizedPassage]
    ) -> dict[int, PassageExample]:
        """The first windows of passages that answer no question, which can only be hard negatives, by their number."""
        unanswered = [number for number, p in enumerate(passages) if not any(q.answers for q in p.questions)]
        asked = [q.text for number in unanswered for q in passages[number].questions]
        wordings = zip(self.tokens.questions(asked), map(question_terms, asked), strict=True)
        return {
            number: PassageExample(
                number,
                passages[number].article,
                tokenized[number].windows[0],
                (),
                tuple(self._unanswerable(q, *next(wordings)) for q in passages[number].questions),
            )
            for number in unanswered
        }

    def _examples(
        self, number: int, passage: QuestionedPassage, tokens: TokenizedPassage, wordings: Iterator[Wording]
    ) -> Iterator[PassageExample]:
        by_window: dict[int, list[QuestionExample]] = {}
        unanswerable: list[QuestionExample] = []
        for question, (ids, terms, typed) in zip(passage.questions, wordings, strict=False):
            answer = usable_answer(question, passage.passage.text, self.ambiguous, self.report)
            if not question.answers:
                unanswerable.append(self._unanswerable(question, ids, terms))
            if answer is None:
                continue
            if len(answer.text.split()) > self.tokens.config.max_words:
                self.report.too_long += 1
                continue
            spans, window = self._place(answer, passage.passage.text, tokens)
            if window is not None:
                key = self._answers.setdefault(normalize_answer(answer.text), len(self._answers))
                example = QuestionExample(question.id, ids, tuple(spans), key, question.generated, terms, typed)
                by_window.setdefault(window, []).append(example)
        for window, questions in sorted(by_window.items()):
            asked = tuple(questions), tuple(unanswerable)
            unanswerable = []  # asked of one window
            yield PassageExample(number, passage.article, tokens.windows[window], *asked)

    def _unanswerable(self, question: Question, ids: Ids, terms: Terms) -> QuestionExample:
        """Its answer is equal to that of no other question."""
        key = self._answers.setdefault(f"no answer to {question.id}", len(self._answers))
        return QuestionExample(question.id, ids, (), key, question.generated, terms)

    def _place(self, answer: GoldAnswer, text: str, tokens: TokenizedPassage) -> tuple[list[TokenSpan], int | None]:
        """The token spans of the answer, and the number of the window with most context around it."""
        given = token_span(tokens.offsets, answer.start, answer.start + len(answer.text))
        window = None if given is None else best_window(tokens.windows, given)
        if given is None or window is None:
            self.report.across_windows += 1
            return [], None
        spans = [given]
        if answer.ambiguous:
            self.report.ambiguous += 1
            if self.ambiguous == "any":
                spans += self._other_occurrences(answer, text, tokens, tokens.windows[window], given)
        self.report.used += 1
        self.report.inexact += not _is_exact(text, tokens.offsets, given, answer.text)
        return spans, window

    @staticmethod
    def _other_occurrences(
        answer: GoldAnswer, text: str, tokens: TokenizedPassage, window: Window, given: TokenSpan
    ) -> Iterator[TokenSpan]:
        for start in occurrences(answer.text, text):
            span = token_span(tokens.offsets, start, start + len(answer.text))
            if span is None or span == given or not window.start <= span[0] <= span[1] < window.stop:
                continue
            if _is_exact(text, tokens.offsets, span, answer.text):
                yield span


def usable_answer(question: Question, text: str, ambiguous: Ambiguous, report: AlignmentReport) -> GoldAnswer | None:
    """The first well-placed answer, or None; training data has one answer per question."""
    report.questions += 1
    good = [a for a in question.answers if a.text and text[a.start : a.start + len(a.text)] == a.text]
    if not question.answers:
        report.unanswerable += 1
    elif not good:
        report.misplaced += 1
    elif good[0].ambiguous and ambiguous == "drop":
        report.dropped_ambiguous += 1
    else:
        return good[0]
    return None


def occurrences(needle: str, text: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def token_span(offsets_T2: NDArray[np.int64], start: int, end: int) -> TokenSpan | None:
    """The tokens that overlap the characters start:end; None if there are none."""
    first = int(np.searchsorted(offsets_T2[:, 1], start, side="right"))
    last = int(np.searchsorted(offsets_T2[:, 0], end, side="left")) - 1
    return (first, last) if first <= last < len(offsets_T2) else None


def best_window(windows: Sequence[Window], span: TokenSpan) -> int | None:
    """The window with most context around a span; None if no window contains all of it."""
    holding = [i for i, w in enumerate(windows) if w.start <= span[0] and span[1] < w.stop]
    context = {i: min(span[0] - windows[i].start, windows[i].stop - 1 - span[1]) for i in holding}
    return max(holding, key=lambda i: (context[i], -i)) if holding else None


def _is_exact(text: str, offsets_T2: NDArray[np.int64], span: TokenSpan, answer: str) -> bool:
    found = text[offsets_T2[span[0], 0] : offsets_T2[span[1], 1]]
    return found == answer or normalize_answer(found) == normalize_answer(answer)
