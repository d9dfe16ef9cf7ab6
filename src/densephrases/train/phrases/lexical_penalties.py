"""The lexical penalties that search subtracts, for pairs of training questions and passages.

A model that is trained on what is ranked need not learn from its vectors what shared words already tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.model.tokenizer import parted_question
from densephrases.search.scoring.lexical import TermWeights
from densephrases.text.hashed_terms import TERMS, terms
from densephrases.text.passages import Passage

Terms = NDArray[np.uint16]
"""Distinct term ids, ascending."""

NO_TERMS: Terms = np.zeros(0, dtype=np.uint16)

# Shape suffixes: V all terms, Q questions, P passages, W terms of all questions one after the other.


def question_terms(text: str) -> Terms:
    return np.array(sorted(set[int]().union(*map(terms, parted_question(text)))), dtype=np.uint16)


@dataclass(frozen=True, slots=True)
class LexicalPenalties:
    """The terms of all training passages, and what a passage pays for each term that it lacks."""

    terms: tuple[Terms, ...]  # by number of the passage
    penalty_V: Floats

    @classmethod
    def from_passages(cls, passages: Sequence[Passage], lexical_weight: float) -> Self:
        segment = SegmentTerms.from_passages(passages)
        found = tuple(np.split(segment.terms_T.values, segment.edges_P[1:-1]))
        return cls(found, np.float32(lexical_weight) * TermWeights.from_segments([segment]).idf_V)

    def between(self, questions: Sequence[Terms], passages: Sequence[int]) -> Floats:
        """(Q, P): the penalties of the question's terms that the passage lacks."""
        has_PV = np.zeros((len(passages), TERMS), dtype=bool)
        for has_V, number in zip(has_PV, passages, strict=True):
            has_V[self.terms[number]] = True
        term_W = np.concatenate([NO_TERMS, *questions])
        edges_Q = np.cumsum([0, *map(len, questions)])
        missing_PW = np.where(has_PV[:, term_W], 0.0, self.penalty_V[term_W])
        total_PW = np.pad(np.cumsum(missing_PW, axis=1), ((0, 0), (1, 0)))
        return np.ascontiguousarray((total_PW[:, edges_Q[1:]] - total_PW[:, edges_Q[:-1]]).T, dtype=np.float32)
