"""What the words of a question are worth: passages that have them, in their text or title, gain by each.

A word is worth the more the fewer passages have it (the inverse document frequency of BM25). How often it stands in a
passage and how long that is does not count: neither helped on SQuAD.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.model.tokens import parted_question
from densephrases.search.collection import Floats, Rows, Segment
from densephrases.search.ranges import ranges
from densephrases.text.terms import TERMS, terms

# Shape suffixes: V all terms, B questions, W words of all questions in turn, N passages asked about.


@dataclass(frozen=True, slots=True)
class WordValues:
    """What each term is worth in a collection, deleted documents included; nothing if no passage has it."""

    value_V: Floats

    @classmethod
    def of(cls, segments: Sequence[Segment]) -> Self:
        passages = sum(len(segment.passage_documents) for segment in segments)
        with_V = np.zeros(TERMS)
        for segment in segments:
            with_V += segment.terms.passages_V
        value_V = np.log1p((passages - with_V + 0.5) / (with_V + 0.5))
        return cls(np.where(with_V > 0, value_V, 0.0).astype(np.float32))


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """The different terms of questions, and what a passage gains by each that it has."""

    edges_B: Rows  # the first word of each question, one more than questions
    term_W: NDArray[np.uint16]
    gain_W: Floats

    @classmethod
    def of(cls, questions: Sequence[str], values: WordValues, weight: float) -> Self:
        found = [sorted(set[int]().union(*map(terms, parted_question(question)))) for question in questions]
        edges_B = np.cumsum([0, *map(len, found)])
        term_W = np.fromiter(chain.from_iterable(found), np.uint16, int(edges_B[-1]))
        return cls(edges_B, term_W, np.float32(weight) * values.value_V[term_W])

    def take(self, questions: Rows) -> Self:
        counts_B = np.diff(self.edges_B)[questions]
        _, chosen_W = ranges(self.edges_B[questions], counts_B)
        return type(self)(np.cumsum([0, *counts_B]), self.term_W[chosen_W], self.gain_W[chosen_W])

    def gains(self, segment: Segment, question_N: Rows, passage_N: Rows) -> Floats:
        """Of each passage, by the words of the question beside it."""
        first_N = self.edges_B[question_N]
        owner, word = ranges(first_N, self.edges_B[question_N + 1] - first_N)
        has = segment.terms.contain(passage_N[owner], self.term_W[word])
        return np.bincount(owner[has], self.gain_W[word[has]], len(question_N)).astype(np.float32)

    def gains_of_all(self, segment: Segment, question: int) -> Floats:
        """Of every passage of a segment, by the words of one question."""
        passage_N = np.arange(len(segment.passage_documents))
        return self.gains(segment, np.full_like(passage_N, question), passage_N)
