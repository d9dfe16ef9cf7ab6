"""Confidences fitted to a user's own questions about an index.

There are few of them, so the weights of the model stay in proportion: only a slope and a shift of its logits are fitted
(Platt scaling), drawn towards 1 and 0. Some questions are asked a second time without the documents that answer them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from densephrases.arrays import Ints
from densephrases.data.questions import OpenQuestion
from densephrases.errors import ConfigError, DataError
from densephrases.evaluate.calibration_metrics import expected_calibration_error
from densephrases.evaluate.own_documents import Asked
from densephrases.evaluate.tune.platt import fit_platt, log_losses
from densephrases.index.fitted_confidence import FittedConfidence
from densephrases.search.answers import Answer
from densephrases.search.confidence import RIVALS, Calibration, Numbers, logistic
from densephrases.search.own_calibration import calibration_digest, model_calibration
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest

FEWEST = 10  # questions
FOLDS = 10

_ASKED_AT_ONCE = 64

# Shape suffixes: N answers.


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """The first answer to a question: the model's logit of its confidence, and whether it is right."""

    question: int  # its number; that of a question asked twice is the same
    logit: float
    right: bool
    without_documents: bool = False  # asked of those documents that do not answer it


@dataclass(frozen=True, slots=True)
class Quality:
    """Of confidences: calibration error in percent, and mean log loss in nats."""

    calibration_error: float
    log_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnConfidence:
    """Confidences fitted to all questions; `after` was measured on questions that a fit had not seen.

    Attributes:
        questions: Those that got an answer.
        asked_again: Those of them that were also asked without the documents that answer them.
        right: Right first answers in percent, of both.
        before: With the model's confidences.
        after: Cross-validated.
        slope: Of the model's logits.
        shift: Added to them then.
    """

    questions: int
    asked_again: int
    right: float
    before: Quality
    after: Quality
    slope: float
    shift: float

    @property
    def is_better(self) -> bool:
        return self.after.log_loss < self.before.log_loss

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"better": self.is_better}


def fit_own_confidence(
    index: PhraseIndex,
    questions: Sequence[OpenQuestion],
    absent: float = 0.25,
    advance: Callable[[int], None] = lambda _: None,
) -> OwnConfidence:
    """Ask the questions and fit to the answers; nothing is stored.

    Args:
        index: About whose documents the questions are.
        questions: One without answers asks for what the documents do not say.
        absent: Share of the answered questions that are asked a second time, without the documents that answer them.
        advance: Called with the number of further questions asked.
    """
    if not 0 <= absent <= 1:
        raise ConfigError(f"absent={absent} is no share of the questions; expected a number from 0 to 1.")
    if len(questions) < FEWEST:
        raise DataError(
            f"Too few questions to fit confidences to: {len(questions)}; expected at least {FEWEST}, so add some."
        )
    calibration = _calibration(index)
    asked = _asked(index, list(enumerate(questions)), advance)
    judged = [*_judged(asked, calibration)]
    again = _asked_again(index, questions, asked, absent, advance)
    return own_confidence([*judged, *_judged(again, calibration, without_documents=True)])


def fitted_confidence(index: PhraseIndex, found: OwnConfidence) -> FittedConfidence:
    """What is stored with the index."""
    return FittedConfidence(
        model=calibration_digest(index.encoder),
        weights=_calibration(index).rescaled(found.slope, found.shift).to_dict(),
        questions=found.questions,
        date=datetime.now(UTC).date().isoformat(),
    )


def _calibration(index: PhraseIndex) -> Calibration:
    calibration = model_calibration(index.encoder)
    if calibration is None:
        raise ConfigError(
            f"The model '{index.folder.settings.model}' has no confidences that could be fitted to your questions; fit "
            "its own first with `densephrases tune confidence MODEL DATA`, DATA being a SQuAD file."
        )
    return calibration


_Numbered = tuple[int, Asked]


def _asked(
    index: PhraseIndex,
    questions: Sequence[tuple[int, OpenQuestion]],
    advance: Callable[[int], None],
    documents: Sequence[str] | None = None,
) -> list[_Numbered]:
    request = SearchRequest(k=RIVALS, unit="phrase", verify=0, explain=True, overlapping=True, documents=documents)
    asked: list[_Numbered] = []
    for first in range(0, len(questions), _ASKED_AT_ONCE):
        some = questions[first : first + _ASKED_AT_ONCE]
        results = index.search([each.text for _, each in some], request=request)
        for (number, each), answers in zip(some, results, strict=True):
            asked.append((number, Asked(each.text, each.answers, answers, 0.0, each.regex)))
        advance(len(some))
    return asked


def _asked_again(
    index: PhraseIndex,
    questions: Sequence[OpenQuestion],
    asked: Sequence[_Numbered],
    share: float,
    advance: Callable[[int], None],
) -> list[_Numbered]:
    """Some questions with a right answer among the first, searched in all documents but those of right answers."""
    left_out = {number: _documents_of_right_answers(each) for number, each in asked}
    answered = [number for number, documents in left_out.items() if documents]
    chosen = np.random.default_rng(0).permutation(answered)[: round(share * len(answered))]
    groups: dict[frozenset[str], list[int]] = defaultdict(list)
    for number in sorted(chosen.tolist()):
        groups[left_out[number]].append(number)
    ids = [document.id for document in index.documents()] if groups else []
    again: list[_Numbered] = []
    for documents, numbers in groups.items():
        if others := [each for each in ids if each not in documents]:
            again += _asked(index, [(number, questions[number]) for number in numbers], advance, others)
    return again


def _documents_of_right_answers(asked: Asked) -> frozenset[str]:
    return frozenset(answer.document.id for answer in asked.answers if asked.is_right(answer))


def _judged(
    asked: Sequence[_Numbered], calibration: Calibration, *, without_documents: bool = False
) -> Iterator[JudgedAnswer]:
    """Questions without any answer have no confidence."""
    for number, each in asked:
        if each.answers:
            yield JudgedAnswer(number, _first_logit(calibration, each.answers), each.first_is_right, without_documents)


def _first_logit(calibration: Calibration, answers: Sequence[Answer]) -> float:
    evidence = [answer.explanation.evidence for answer in answers if answer.explanation is not None]
    return float(calibration.logits([answer.score for answer in answers], evidence)[0])


def own_confidence(judged: Sequence[JudgedAnswer]) -> OwnConfidence:
    """Fitted to all answers; each is evaluated with a fit to other questions."""
    question_N = np.array([each.question for each in judged], dtype=np.int64)
    logit_N = np.array([each.logit for each in judged])
    right_N = np.array([each.right for each in judged], dtype=np.float64)
    questions = len(np.unique(question_N))
    _refuse_unfit(questions, right_N)
    slope, shift = fit_platt(logit_N, right_N)
    return OwnConfidence(
        questions=questions,
        asked_again=sum(each.without_documents for each in judged),
        right=100 * float(right_N.mean()),
        before=_quality(logit_N, right_N),
        after=_quality(_cross_fitted(question_N, logit_N, right_N), right_N),
        slope=slope,
        shift=shift,
    )


def _refuse_unfit(questions: int, right_N: Numbers) -> None:
    if questions < FEWEST:
        raise DataError(
            f"The index has answers to {questions} of the questions; expected at least {FEWEST} to fit confidences to."
        )
    if right_N.all() or not right_N.any():
        raise DataError(
            f"All {len(right_N)} answers are {'right' if right_N.all() else 'wrong'}, and confidences are fitted to "
            "right and wrong ones; "
            + (
                "add questions that the documents do not answer, with an empty answer, or raise --absent."
                if right_N.all()
                else "see what is wrong with `densephrases eval own INDEX --questions FILE`."
            )
        )


def _cross_fitted(question_N: Ints, logit_N: Numbers, right_N: Numbers) -> Numbers:
    """The logit of each answer, rescaled as fitted to other questions."""
    several, place_N = np.unique(question_N, return_inverse=True)
    fold_N = np.random.default_rng(0).permutation(len(several))[place_N] % FOLDS
    found_N = np.zeros(len(logit_N))
    for fold in range(FOLDS):
        here_N = fold_N == fold
        slope, shift = fit_platt(logit_N[~here_N], right_N[~here_N])
        found_N[here_N] = slope * logit_N[here_N] + shift
    return found_N


def _quality(logit_N: Numbers, right_N: Numbers) -> Quality:
    loss = float(log_losses(logit_N, right_N).mean())
    return Quality(100 * expected_calibration_error(logistic(logit_N), right_N), loss)
