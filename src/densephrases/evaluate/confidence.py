"""How far a model's confidence can be believed, and the weights that make it so.

Questions are asked of an index of all the file's articles. Confidences are judged on articles they were not fitted on.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from densephrases.errors import DataError
from densephrases.evaluate.datasets import Question, QuestionedPassage, questions_of
from densephrases.evaluate.metrics import best_over_golds, exact_match
from densephrases.search.confidence import RIVALS, Calibration, Numbers
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.reliability import (
    CoveragePoint,
    ReliabilityBin,
    coverage_curve,
    expected_calibration_error,
    reliability_bins,
    risk_coverage_area,
)
from densephrases.text.documents import Document

FOLDS = 5
ASKED_AT_ONCE = 256
COVERAGES = tuple(number / 10 for number in range(1, 11))

# Shape suffixes: K results of a question, N questions.


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and the title of the article it was written about; without gold answers nothing is right."""

    question: Question
    article: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The scores of a question's distinct results, best first, and whether the first is right."""

    asked: AskedQuestion
    scores_K: Numbers
    right: bool


@dataclass(frozen=True, slots=True)
class ConfidenceReport:
    """Percentages, but for areas and curves, which are shares; `weights` were fitted on all questions."""

    questions: int
    unanswerable: int
    exact_match: float
    calibration_error: float
    risk_coverage_area: float
    bins: list[ReliabilityBin]
    coverage: list[CoveragePoint]
    weights: dict[str, float]


def articles_of(passages: Sequence[QuestionedPassage]) -> Iterator[Document]:
    """Each article of a SQuAD file as a document, its paragraphs set apart by blank lines."""
    for number, group in groupby(passages, key=lambda passage: passage.article):
        members = list(group)
        title = members[0].passage.title
        yield Document(f"{number}: {title}", "\n\n".join(member.passage.text for member in members), title)


def questions_about(
    passages: list[QuestionedPassage], unanswerable: list[QuestionedPassage] | None = None
) -> list[AskedQuestion]:
    """The file's questions, and those of the other file without answers about the same articles."""
    titles = {passage.passage.title for passage in passages}
    asked = [AskedQuestion(question, passages[number].passage.title) for number, question in questions_of(passages)]
    if unanswerable is not None:
        others = [(unanswerable[number].passage.title, question) for number, question in questions_of(unanswerable)]
        further = [AskedQuestion(q, title) for title, q in others if title in titles and not q.answers]
        if not further:
            raise DataError("The unanswerable questions are about none of the file's articles; give a matching file.")
        asked += further
    return asked


def judge(
    index: PhraseIndex, asked: Sequence[AskedQuestion], advance: Callable[[int], None] = lambda _: None
) -> list[Judgement]:
    judged = []
    for first in range(0, len(asked), ASKED_AT_ONCE):
        batch = asked[first : first + ASKED_AT_ONCE]
        for each, answers in zip(batch, index.search([a.question.text for a in batch], k=RIVALS), strict=True):
            golds = each.question.golds
            right = bool(golds and answers and best_over_golds(exact_match, answers[0].text, golds))
            judged.append(Judgement(each, np.array([answer.score for answer in answers]), right))
        advance(len(batch))
    return judged


def report(judged: Sequence[Judgement]) -> ConfidenceReport:
    right_N = np.array([j.right for j in judged])
    confidence_N = cross_fitted(judged)
    return ConfidenceReport(
        questions=len(judged),
        unanswerable=sum(not j.asked.question.answers for j in judged),
        exact_match=100 * float(right_N.mean()),
        calibration_error=100 * expected_calibration_error(confidence_N, right_N),
        risk_coverage_area=risk_coverage_area(confidence_N, right_N),
        bins=reliability_bins(confidence_N, right_N),
        coverage=_at_coverages(coverage_curve(confidence_N, right_N)),
        weights=fitted(judged).to_dict(),
    )


def fitted(judged: Sequence[Judgement]) -> Calibration:
    return Calibration.fit([j.scores_K for j in judged], [[j.right][: len(j.scores_K)] for j in judged])


def cross_fitted(judged: Sequence[Judgement]) -> Numbers:
    """The confidence in each first result, by weights fitted on questions about other articles."""
    numbers = {article: number for number, article in enumerate(sorted({j.asked.article for j in judged}))}
    if len(numbers) < 2:
        raise DataError("All questions are about one article; confidence is fitted on some and judged on others.")
    fold_N = np.array([numbers[j.asked.article] for j in judged]) % min(FOLDS, len(numbers))
    confidence_N = np.zeros(len(judged))
    for fold in range(int(fold_N.max()) + 1):
        calibration = fitted([j for j, other in zip(judged, fold_N, strict=True) if other != fold])
        for row in np.flatnonzero(fold_N == fold).tolist():
            confidence_N[row] = calibration.probability(judged[row].scores_K)[:1].sum()
    return confidence_N


def _at_coverages(curve: Sequence[CoveragePoint]) -> list[CoveragePoint]:
    """The first point of the curve that answers at least each of some shares of the questions."""
    return [next(point for point in curve if point.coverage >= share - 1e-9) for share in COVERAGES]
