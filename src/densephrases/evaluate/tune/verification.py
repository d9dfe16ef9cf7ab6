"""How reader and search are weighed when answers are verified, and when reading is worth its time.

Questions are asked of an index of a file's articles, and the passages of the first results are read. Weights maximise
the likelihood of the right phrases among all phrases that were read; the confidence of verified answers is fitted like
that of others, with questions that the articles do not answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from densephrases.arrays import Mask
from densephrases.data.matching.em_f1 import best_over_answers, exact_match
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.calibration_metrics import expected_calibration_error
from densephrases.evaluate.tune.calibration import L2, fit_nonnegative
from densephrases.evaluate.tune.confidence import AskedQuestion, asked_in_batches
from densephrases.evaluate.tune.listwise import Lists, fit_nonnegative_weights
from densephrases.search.answers import Answer
from densephrases.search.confidence import RIVALS, Numbers
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.verification.verifier import (
    RESULTS_PER_PASSAGE,
    ReadPhrase,
    Verifier,
    best_of_passages,
    passage_key,
    phrases_of,
)
from densephrases.search.verification.weights import VerificationWeights, VerifiedConfidence, confidence_features
from densephrases.text.documents import Document

PASSAGES = 3
MOST_READ = 0.7  # passages a question, answerable or not, that "auto" may read on average
TOLERANCE = 0.3  # points of exact match that it may lose against the best choice, if it reads less
SHARES = tuple(number / 20 for number in range(1, 20))  # of the questions, for which a passage is read
FURTHER = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)  # confidences below which the others are read as well
RANKED_BY = ("reader", "unverified")

# Shape suffixes: Q questions, C phrases of a question, F features, N questions of a measure.


@dataclass(frozen=True, slots=True)
class VerifiedQuestion:
    """A question, its first result before verification, and the phrases of its first passages.

    Attributes:
        confidence: Of the first result.
        right: Whether the first result is right.
        phrases: Of the first passage alone, then of all passages that were read.
    """

    asked: AskedQuestion
    confidence: float
    right: bool
    phrases: tuple[list[ReadPhrase], list[ReadPhrase]]

    def is_right(self, phrase: ReadPhrase) -> bool:
        gold = self.asked.question.gold_texts
        return bool(gold and best_over_answers(exact_match, phrase.text, gold))


@dataclass(frozen=True, slots=True)
class AutoRow:
    """What "auto" does if it reads below a confidence, and goes on below another.

    Attributes:
        share: Percentage of the questions that are read for, answerable or not.
        passages: Read for such a question, on average.
        exact_match: Percentage of the answerable ones.
    """

    below: float
    further_below: float
    share: float
    passages: float
    exact_match: float


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """Percentages of answerable questions; the calibration error is of verified answers to all questions."""

    questions: int
    unanswerable: int
    passages: int
    unverified: float
    verified_by_one: float
    verified: float
    calibration_error: float
    rows: list[AutoRow]
    chosen: AutoRow
    weights: dict[str, float]


def read_questions(
    index: PhraseIndex,
    articles: Sequence[Document],
    asked: Sequence[AskedQuestion],
    passages: int = PASSAGES,
    advance: Callable[[int], None] = lambda _: None,
) -> list[VerifiedQuestion]:
    """Asks and reads; `advance` is called with the number of further questions."""
    _refuse_unfit(index)
    verifier, found = Verifier(index.encoder, VerificationWeights()), []
    for batch, searched in asked_in_batches(articles, asked):
        texts = [each.question.text for each in batch]
        wanted = max(RIVALS, RESULTS_PER_PASSAGE * passages)
        results = index.search(texts, k=wanted, documents=searched, verify=0, overlapping=True)
        read = verifier.read(index.searcher.truecased(texts), results, slice(passages))
        for each, answers, several in zip(batch, results, read, strict=True):
            if several:
                found.append(_verified_question(each, answers, (phrases_of(several[:1]), phrases_of(several))))
        advance(len(batch))
    return found


def _refuse_unfit(index: PhraseIndex) -> None:
    config = index.encoder.config
    if not config.reads:
        raise ConfigError(f"The model of base '{config.base}' has no reading head; train one that reads.")
    if config.confidence is None:
        raise ConfigError("The model has no confidence weights; fit them first with `densephrases tune confidence`.")


def _verified_question(
    asked: AskedQuestion, answers: Sequence[Answer], phrases: tuple[list[ReadPhrase], list[ReadPhrase]]
) -> VerifiedQuestion:
    gold = asked.question.gold_texts
    right = bool(gold and best_over_answers(exact_match, answers[0].phrase.text, gold))
    return VerifiedQuestion(asked, answers[0].confidence or 0.0, right, phrases)


def verification_report(read: Sequence[VerifiedQuestion], passages: int = PASSAGES) -> VerificationReport:
    """Fits all weights and measures what they do."""
    weights = replace(fit_ranking(read), passages=passages)
    confidence, error = fit_verified_confidence(read, weights)
    weights = replace(weights, confidence=confidence)
    answerable = [each for each in read if each.asked.kind == "answerable"]
    rows = auto_table(read, weights)
    chosen = choose_auto(rows)
    by_one = [_verified_right(each, weights, first_only=True) for each in answerable]
    return VerificationReport(
        questions=len(read),
        unanswerable=len(read) - len(answerable),
        passages=passages,
        unverified=rows[0].exact_match,
        verified_by_one=100 * float(np.mean(by_one)),
        verified=rows[-1].exact_match,
        calibration_error=error,
        rows=rows,
        chosen=chosen,
        weights=replace(weights, auto_below=chosen.below, further_below=chosen.further_below).to_dict(),
    )


def fit_ranking(read: Sequence[VerifiedQuestion], l2: float = L2) -> VerificationWeights:
    """Weights of reader and search that make the right phrases most likely, in a softmax over all that were read.

    Questions without a right phrase teach nothing. No weight is negative.
    """
    taught = []
    for each in read:
        right_C = np.array([each.is_right(phrase) for phrase in each.phrases[1]])
        if right_C.any() and not right_C.all():
            rows = [[getattr(phrase.features, name) for name in RANKED_BY] for phrase in each.phrases[1]]
            taught.append((np.array(rows, dtype=np.float64), right_C))
    if not taught:
        raise DataError("No question has right and wrong phrases in the passages that were read; give more questions.")
    return VerificationWeights(**dict(zip(RANKED_BY, fit_softmax(taught, l2).tolist(), strict=True)))


def fit_softmax(taught: Sequence[tuple[Numbers, Mask]], l2: float) -> Numbers:
    """Non-negative weights (F); the penalty applies to features of unit variance in a question."""
    edges_Q = np.cumsum([0, *(len(right_C) for _, right_C in taught)])
    centred_NF = np.concatenate([features_CF - features_CF.mean(axis=0) for features_CF, _ in taught])
    lists = Lists(edges_Q, centred_NF, np.concatenate([right_C for _, right_C in taught]))
    return fit_nonnegative_weights(lists, l2 * (centred_NF**2).mean(axis=0))


def fit_verified_confidence(
    read: Sequence[VerifiedQuestion], weights: VerificationWeights
) -> tuple[VerifiedConfidence, float]:
    """The confidence of first answers that were verified in one passage or in all, and its calibration error."""
    rows, right = [], []
    for each in read:
        for phrases in each.phrases:
            ranked = best_of_passages(phrases, weights)
            if ranked:
                scores = [weights.score(phrase.features) for phrase in ranked]
                rows.append(confidence_features(scores, [phrase.features for phrase in ranked])[0])
                right.append(each.is_right(ranked[0]))
    right_N = np.array(right, dtype=np.float64)
    if not 0 < right_N.sum() < len(right_N):
        raise ConfigError(
            f"Of {len(right_N)} verified answers {int(right_N.sum())} are right; confidence needs examples of both."
        )
    _, intercept, weights_F = fit_nonnegative(np.array(rows), right_N, L2)
    names = ("score", "gap", "log_probability", "unverified", "margin")
    fitted = VerifiedConfidence(intercept=intercept, **dict(zip(names, weights_F.tolist(), strict=True)))
    probability_N = 1 / (1 + np.exp(-(np.array(rows) @ weights_F + intercept)))
    return fitted, 100 * expected_calibration_error(probability_N, right_N.astype(bool))


def auto_table(read: Sequence[VerifiedQuestion], weights: VerificationWeights) -> list[AutoRow]:
    """From reading never to reading always: the points that no cheaper one equals in exact match."""
    answerable_N = np.array([each.asked.kind == "answerable" for each in read], dtype=bool)
    if not answerable_N.any():
        raise DataError("No question has an answer; give a SQuAD file with some.")
    confidence_N = np.array([each.confidence for each in read])
    by_one_N = np.array([_confidence_by_one(each, weights) for each in read])
    count_N = np.array([len({passage_key(phrase.found) for phrase in each.phrases[1]}) for each in read])
    right_3N = np.array(
        [(each.right, _verified_right(each, weights, first_only=True), _verified_right(each, weights)) for each in read]
    ).T

    def row(below: float, further_below: float) -> AutoRow:
        read_N = confidence_N < below
        on_N = read_N & (by_one_N < further_below)
        right_N = np.where(on_N, right_3N[2], np.where(read_N, right_3N[1], right_3N[0]))
        passages = float(np.where(on_N, count_N, read_N).mean())
        exact_match = 100 * float(right_N[answerable_N].mean())
        return AutoRow(below, further_below, 100 * float(read_N.mean()), passages, exact_match)

    points = [float(np.quantile(confidence_N, share)) for share in SHARES]
    rows = [row(below, further_below) for below in points for further_below in FURTHER]
    return [*_without_equalled([row(0.0, 0.0), *rows]), row(1.0, 1.0)]


def _without_equalled(rows: Sequence[AutoRow]) -> list[AutoRow]:
    kept: list[AutoRow] = []
    for row in sorted(rows, key=lambda row: (row.passages, -row.exact_match)):
        if not kept or row.exact_match > kept[-1].exact_match:
            kept.append(row)
    return kept


def _confidence_by_one(each: VerifiedQuestion, weights: VerificationWeights) -> float:
    """Of the first answer after its passage was read."""
    ranked = best_of_passages(each.phrases[0], weights)
    if weights.confidence is None or not ranked:
        return each.confidence
    scores = [weights.score(phrase.features) for phrase in ranked]
    return float(weights.confidence.probability(scores, [phrase.features for phrase in ranked])[0])


def _verified_right(each: VerifiedQuestion, weights: VerificationWeights, *, first_only: bool = False) -> bool:
    ranked = best_of_passages(each.phrases[0 if first_only else 1], weights)
    return each.is_right(ranked[0]) if ranked else each.right


def choose_auto(rows: Sequence[AutoRow], most: float = MOST_READ, tolerance: float = TOLERANCE) -> AutoRow:
    """The row that reads fewest passages within `tolerance` points of the best; rows above `most` passages are out."""
    allowed = [row for row in rows if row.passages <= most]
    best = max(row.exact_match for row in allowed)
    return min((row for row in allowed if row.exact_match >= best - tolerance), key=lambda row: row.passages)
