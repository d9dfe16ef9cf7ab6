"""How much the words should count that a question shares with a passage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1
from densephrases.data.squad import Question, QuestionedPassage, questions_of
from densephrases.errors import DataError
from densephrases.evaluate.tune.quantizer import spread_out
from densephrases.search.phrase_index import PhraseIndex

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
# Whoever writes a question while reading its passage takes words from there, as people do not who want to know: what is
# best on such questions is too much for others, and so the smallest weight is chosen that is nearly as good.
TOLERANCE = 0.3
ASKED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """Percentages; `among_ten` are the questions with a right phrase among their first ten."""

    weight: float
    exact_match: float
    f1: float
    among_ten: float


def answered_questions(passages: list[QuestionedPassage], most: int) -> Sequence[Question]:
    """At most so many of those that have an answer, from all over the file."""
    asked = [question for _, question in questions_of(passages) if question.answers]
    if not asked:
        raise DataError("No question of the file has an answer; give a SQuAD file with some.")
    return spread_out(asked, most)


def lexical_table(
    index: PhraseIndex,
    questions: Sequence[Question],
    weights: Sequence[float] = WEIGHTS,
    advance: Callable[[int], None] = lambda _: None,
) -> list[LexicalRow]:
    """Questions asked of a whole index with each weight; `advance` is told how many more were asked."""
    rows = []
    for weight in weights:
        scores_N3 = []
        for first in range(0, len(questions), ASKED_AT_ONCE):
            batch = questions[first : first + ASKED_AT_ONCE]
            found = index.search([question.text for question in batch], lexical_weight=weight)
            for question, answers in zip(batch, found, strict=True):
                scores_N3.append(_scores([answer.text for answer in answers], question.gold_texts))
            advance(len(batch))
        rows.append(LexicalRow(weight, *(100 * np.mean(scores_N3, axis=0)).tolist()))
    return rows


def _scores(texts: Sequence[str], golds: Sequence[str]) -> tuple[float, float, float]:
    right = [best_over_answers(exact_match, text, golds) for text in texts] or [0.0]
    return right[0], best_over_answers(f1, texts[0], golds) if texts else 0.0, max(right)


def choose_weight(rows: Sequence[LexicalRow], tolerance: float = TOLERANCE) -> LexicalRow:
    """The smallest weight with at most so much less exact match than the best."""
    least = max(row.exact_match for row in rows) - tolerance
    return min((row for row in rows if row.exact_match >= least), key=lambda row: row.weight)
