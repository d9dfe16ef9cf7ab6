"""The weight of lexical overlap between question and passage."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.data.matching.em_f1 import best_over_answers, exact_match, f1
from densephrases.data.squad import Question, QuestionedPassage, questions_of
from densephrases.errors import DataError
from densephrases.evaluate.tune.quantizer import spread_out
from densephrases.search.phrase_index import PhraseIndex

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
# Questions of SQuAD were written with the passage in view and share more words with it than real ones do. The best
# weight for them is too large for others, so the smallest weight that is nearly as good is picked.
TOLERANCE = 0.3  # points of exact match
ASKED_AT_ONCE = 256
RESULTS = 10  # of a question, overlapping ones apart


@dataclass(frozen=True, slots=True)
class LexicalRow:
    """Percentages; `among_ten`: questions with an exact match among their first `RESULTS` results."""

    weight: float
    exact_match: float
    f1: float
    among_ten: float


def answered_questions(passages: list[QuestionedPassage], limit: int) -> Sequence[Question]:
    """At most `limit` questions that have an answer, evenly spaced in the file."""
    asked = [question for _, question in questions_of(passages) if question.answers]
    if not asked:
        raise DataError("No question of the file has an answer; give a SQuAD file with some.")
    return spread_out(asked, limit)


def lexical_table(
    index: PhraseIndex,
    questions: Sequence[Question],
    weights: Sequence[float] = WEIGHTS,
    advance: Callable[[int], None] = lambda _: None,
) -> list[LexicalRow]:
    """Asks the questions with each weight; `advance` is called with the number of further questions asked."""
    rows = []
    for weight in weights:
        scores_N3 = []
        for first in range(0, len(questions), ASKED_AT_ONCE):
            batch = questions[first : first + ASKED_AT_ONCE]
            texts = [question.text for question in batch]
            found = index.search(texts, k=RESULTS, lexical_weight=weight, verify=0, overlapping=True)
            for question, answers in zip(batch, found, strict=True):
                scores_N3.append(_scores([answer.text for answer in answers], question.gold_texts))
            advance(len(batch))
        rows.append(LexicalRow(weight, *(100 * np.mean(scores_N3, axis=0)).tolist()))
    return rows


def _scores(texts: Sequence[str], gold_texts: Sequence[str]) -> tuple[float, float, float]:
    right = [best_over_answers(exact_match, text, gold_texts) for text in texts] or [0.0]
    return right[0], best_over_answers(f1, texts[0], gold_texts) if texts else 0.0, max(right)


def choose_weight(rows: Sequence[LexicalRow], tolerance: float = TOLERANCE) -> LexicalRow:
    """The smallest weight within `tolerance` points of the best exact match."""
    least = max(row.exact_match for row in rows) - tolerance
    return min((row for row in rows if row.exact_match >= least), key=lambda row: row.weight)
