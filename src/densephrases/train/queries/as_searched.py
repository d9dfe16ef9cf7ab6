"""What users see of a query encoder: its first answers, searched with all that a search does.

Training judges epochs by the scores of phrases alone. A search ranks the first phrases again, and may read their
passages; both were fitted to the query encoder as it was before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.data.questions import OpenQuestion
from densephrases.evaluate.tune.platt import fit_platt
from densephrases.index.folder import IndexFolder
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.model.encoder import Encoder
from densephrases.search.answers import Answer
from densephrases.search.confidence import Calibration
from densephrases.search.phrase_index import PhraseIndex
from densephrases.search.request import SearchRequest
from densephrases.train.queries.relevance import UNITS, Relevance
from densephrases.train.queries.target import Target

FEWEST_CALIBRATED = 50  # questions to fit a confidence to
_MOST_READ = 200  # questions whose passages are read again, which takes seconds each


@dataclass(frozen=True, slots=True)
class FirstAnswers:
    """Of each question whether the first answer is right, and the confidence in it, None where there is none."""

    right: tuple[bool, ...]
    confidences: tuple[float | None, ...]

    @property
    def percent(self) -> float:
        return 100 * sum(self.right) / max(len(self.right), 1)


def first_answers(
    index: IndexFolder, encoder: Encoder, questions: Sequence[OpenQuestion], target: Target, *, read: bool = True
) -> FirstAnswers:
    """As a search of the index finds them; passages of many questions are not read."""
    verify = None if read and len(questions) <= _MOST_READ else 0
    request = SearchRequest(k=1, unit=UNITS[target], verify=verify)
    found = PhraseIndex(index, encoder).search([question.text for question in questions], request=request)
    longest = encoder.config.max_words
    right = [
        bool(answers) and _is_right(answers[0], Relevance(question, target, longest))
        for question, answers in zip(questions, found, strict=True)
    ]
    return FirstAnswers(tuple(right), tuple(answers[0].confidence if answers else None for answers in found))


def _is_right(answer: Answer, relevance: Relevance) -> bool:
    record = DocumentRecord(answer.document.id, answer.document.title, dict(answer.document.metadata))
    return relevance(answer.phrase.text, answer.passage, record)


def rescaled(calibration: Calibration, found: FirstAnswers) -> Calibration:
    """The calibration fitted to other scores by Platt scaling; too few questions leave it as it is."""
    pairs = [(c, right) for c, right in zip(found.confidences, found.right, strict=True) if c is not None]
    if len(pairs) < FEWEST_CALIBRATED or len({right for _, right in pairs}) < 2:
        return calibration
    confidence_N, right_N = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    confidence_N = np.clip(confidence_N, 1e-6, 1 - 1e-6)
    return calibration.rescaled(*fit_platt(np.log(confidence_N / (1 - confidence_N)), right_N))
