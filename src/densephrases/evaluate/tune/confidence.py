"""Confidences fitted to an index of a file's articles, and how well they are calibrated.

Some questions are asked a second time without the article that answers them, because indexes are often asked what
they do not know. Confidences are evaluated on other articles than those they were fitted to.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from densephrases.data.matching.em_f1 import best_over_answers, exact_match
from densephrases.data.questions import OpenQuestion
from densephrases.data.squad import GoldAnswer, Question, QuestionedPassage, questions_of
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.calibration_metrics import (
    CoveragePoint,
    ReliabilityBin,
    coverage_curve,
    expected_calibration_error,
    reliability_bins,
    risk_coverage_area,
)
from densephrases.evaluate.tune.calibration import fit_calibration
from densephrases.search.answers import Answer
from densephrases.search.confidence import RIVALS, Calibration, Numbers
from densephrases.search.explain.evidence import Evidence
from densephrases.search.phrase_index import PhraseIndex
from densephrases.text.documents import Document

FOLDS = 5
_NAME = re.compile(r"(?<=\s)[A-Z][\w.'-]*(?:\s+[A-Z][\w.'-]*)*")
ASKED_AT_ONCE = 256
COVERAGES = tuple(number / 10 for number in range(1, 11))

# Shape suffixes: K results of a question, N questions.


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question and the title of its article; without gold answers no answer is right."""

    question: Question
    article: str
    without_article: bool = False  # searched in all other articles only
    swapped: bool = False  # a name was exchanged for one of another question
    off_topic: bool = False  # of another data set; right only by chance

    @property
    def kind(self) -> str:
        if self.off_topic:
            return "off topic"
        if self.question.answers:
            return "answerable"
        return "swapped name" if self.swapped else "absent article" if self.without_article else "unanswerable"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The scores of a question's results, best first, whether the first is right, and the evidence against them."""

    asked: AskedQuestion
    scores_K: Numbers
    right: bool
    evidence: Sequence[Evidence] = ()


@dataclass(frozen=True, slots=True)
class KindReport:
    """One kind of questions, in percent: right first answers, their mean confidence, those above 20% and above 50%."""

    kind: str
    questions: int
    right: float
    confidence: float
    above_20: float
    above_50: float


@dataclass(frozen=True, slots=True)
class ConfidenceReport:
    """Percentages, except areas and curves, which are shares; `weights` were fitted to all questions."""

    questions: int
    unanswerable: int
    exact_match: float
    calibration_error: float
    risk_coverage_area: float
    bins: list[ReliabilityBin]
    coverage: list[CoveragePoint]
    kinds: list[KindReport]
    weights: dict[str, float]


def articles_of(passages: Sequence[QuestionedPassage]) -> Iterator[Document]:
    """Each article of a SQuAD file as a document, its paragraphs separated by blank lines."""
    for number, group in groupby(passages, key=lambda passage: passage.article):
        members = list(group)
        title = members[0].passage.title
        yield Document(f"{number}: {title}", "\n\n".join(member.passage.text for member in members), title)


def questions_about(
    passages: list[QuestionedPassage], unanswerable: list[QuestionedPassage] | None = None
) -> list[AskedQuestion]:
    """The file's questions, and the unanswerable questions of another file about the same articles."""
    titles = {passage.passage.title for passage in passages}
    asked = [AskedQuestion(question, passages[number].passage.title) for number, question in questions_of(passages)]
    if unanswerable is not None:
        others = [(unanswerable[number].passage.title, question) for number, question in questions_of(unanswerable)]
        further = [AskedQuestion(q, title) for title, q in others if title in titles and not q.answers]
        if not further:
            raise DataError("The unanswerable questions are about none of the file's articles; give a matching file.")
        asked += further
    return asked


def asked_without_article(asked: Sequence[AskedQuestion], share: float, seed: int = 0) -> list[AskedQuestion]:
    """A random share of the answerable questions, to be asked of all articles but their own."""
    if not 0 <= share <= 1:
        raise ConfigError(f"absent={share} is no share of the questions; expected a number from 0 to 1.")
    answerable = [each for each in asked if each.question.answers]
    chosen = np.random.default_rng(seed).permutation(len(answerable))[: round(share * len(answerable))]
    return [
        replace(each, question=replace(each.question, answers=()), without_article=True)
        for each in (answerable[i] for i in sorted(chosen.tolist()))
    ]


def asked_with_swapped_names(asked: Sequence[AskedQuestion], share: float, seed: int = 0) -> list[AskedQuestion]:
    """A random share of the answerable questions, with a name exchanged for one of a question about another article."""
    if not 0 <= share <= 1:
        raise ConfigError(f"swapped={share} is no share of the questions; expected a number from 0 to 1.")
    named = [(each, match) for each in asked if each.question.answers and (match := _longest_name(each.question.text))]
    rng = np.random.default_rng(seed)
    swapped = []
    for i in sorted(rng.permutation(len(named))[: round(share * len(named))].tolist()):
        each, (start, end) = named[i]
        other, (first, last) = named[int(rng.integers(len(named)))]
        text, name = each.question.text, other.question.text[first:last]
        if other.article != each.article and name not in text:
            question = replace(each.question, text=text[:start] + name + text[end:], answers=())
            swapped.append(replace(each, question=question, swapped=True))
    return swapped


def asked_off_topic(questions: Sequence[OpenQuestion], count: int, seed: int = 0) -> list[AskedQuestion]:
    """Some random questions of another data set, apart in folds of their own; patterns are no answers to compare."""
    comparable = [each for each in questions if each.answers and not each.regex]
    chosen = np.random.default_rng(seed).permutation(len(comparable))[:count].tolist()
    return [
        AskedQuestion(_with_answers(comparable[number]), f"off topic {place % FOLDS}", off_topic=True)
        for place, number in enumerate(chosen)
    ]


def _with_answers(question: OpenQuestion) -> Question:
    return Question(question.id, question.text, tuple(GoldAnswer(answer, 0) for answer in question.answers))


def _longest_name(question: str) -> tuple[int, int] | None:
    """The characters of the longest run of capitalised words after the first word; None if there is none."""
    return max((m.span() for m in _NAME.finditer(question)), key=lambda span: span[1] - span[0], default=None)


def judge(
    index: PhraseIndex,
    articles: Sequence[Document],
    asked: Sequence[AskedQuestion],
    advance: Callable[[int], None] = lambda _: None,
) -> list[Judgement]:
    """The results of each question; `advance` is called with the number of further questions asked."""
    judged: list[Judgement] = []
    for batch, searched in asked_in_batches(articles, asked):
        texts = [each.question.text for each in batch]
        judged += _judged(
            batch, index.search(texts, k=RIVALS, documents=searched, verify=0, explain=True, overlapping=True)
        )
        advance(len(batch))
    return judged


def asked_in_batches(
    articles: Sequence[Document], asked: Sequence[AskedQuestion]
) -> Iterator[tuple[list[AskedQuestion], list[str] | None]]:
    """Questions with the ids of the documents that they are asked of, None for all."""
    for left_out, group in groupby(sorted(asked, key=_left_out), key=_left_out):
        searched = [article.id for article in articles if article.title != left_out] if left_out else None
        several = list(group)
        for first in range(0, len(several), ASKED_AT_ONCE):
            yield several[first : first + ASKED_AT_ONCE], searched


def _left_out(asked: AskedQuestion) -> str:
    return asked.article if asked.without_article else ""


def _judged(batch: Sequence[AskedQuestion], results: Sequence[Sequence[Answer]]) -> Iterator[Judgement]:
    for each, answers in zip(batch, results, strict=True):
        gold = each.question.gold_texts
        right = bool(gold and answers and best_over_answers(exact_match, answers[0].text, gold))
        evidence = [answer.explanation.evidence for answer in answers if answer.explanation is not None]
        yield Judgement(each, np.array([answer.score for answer in answers]), right, evidence)


def report(judged: Sequence[Judgement]) -> ConfidenceReport:
    right_N = np.array([j.right for j in judged])
    confidence_N = cross_fitted(judged)
    return ConfidenceReport(
        questions=len(judged),
        unanswerable=sum(j.asked.kind != "answerable" for j in judged),
        exact_match=100 * float(right_N.mean()),
        calibration_error=100 * expected_calibration_error(confidence_N, right_N),
        risk_coverage_area=risk_coverage_area(confidence_N, right_N),
        bins=reliability_bins(confidence_N, right_N),
        coverage=_at_coverages(coverage_curve(confidence_N, right_N)),
        kinds=kind_reports([j.asked.kind for j in judged], confidence_N, right_N),
        weights=fitted(judged).to_dict(),
    )


def kind_reports(kinds: Sequence[str], confidence_N: Numbers, right_N: NDArray[np.bool_]) -> list[KindReport]:
    """One for each kind, in order of appearance."""
    of_N = np.array(kinds)
    reports = []
    for kind in dict.fromkeys(kinds):
        here_N = of_N == kind
        sure_N = confidence_N[here_N]
        shares = [right_N[here_N].mean(), sure_N.mean(), (sure_N > 0.2).mean(), (sure_N > 0.5).mean()]
        reports.append(KindReport(kind, int(here_N.sum()), *(100 * float(share) for share in shares)))
    return reports


def fitted(judged: Sequence[Judgement]) -> Calibration:
    truths = [[j.right][: len(j.scores_K)] for j in judged]
    return fit_calibration([j.scores_K for j in judged], truths, [j.evidence for j in judged])


def cross_fitted(judged: Sequence[Judgement]) -> Numbers:
    """The confidence of each first result, with weights fitted to questions about other articles."""
    numbers = {article: number for number, article in enumerate(sorted({j.asked.article for j in judged}))}
    if len(numbers) < 2:
        raise DataError(
            "All questions are about one article; confidences are fitted to some articles and evaluated on others. "
            "Give a file with several."
        )
    fold_N = np.array([numbers[j.asked.article] for j in judged]) % min(FOLDS, len(numbers))
    confidence_N = np.zeros(len(judged))
    for fold in range(int(fold_N.max()) + 1):
        calibration = fitted([j for j, other in zip(judged, fold_N, strict=True) if other != fold])
        for row in np.flatnonzero(fold_N == fold).tolist():
            confidence_N[row] = calibration.probability(judged[row].scores_K, judged[row].evidence)[:1].sum()
    return confidence_N


def _at_coverages(curve: Sequence[CoveragePoint]) -> list[CoveragePoint]:
    """For each of `COVERAGES` the first point of the curve with at least that coverage."""
    return [next(point for point in curve if point.coverage >= share - 1e-9) for share in COVERAGES]
