"""What the words of a question are worth: each penalties a passage that has it neither in its text nor in its title.

It also penalties a phrase that repeats it, though less: answers seldom say what was asked.

A word is worth the more the fewer passages have it (the inverse document frequency of BM25). How often it stands in a
passage and how long that is does not count: neither helped on SQuAD. That lacking words cost, instead of those that are
there adding, ranks the same, but a score then means the same in small and large collections and for short and long
questions, and less where a question has words that nothing has: confidences can be believed more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints, owners, ranges
from densephrases.model.tokenizer import parted_question
from densephrases.search.scoring.searchable import Segment, Terms
from densephrases.text.hashed_terms import TERMS, terms, terms_of_each

# The share of a word's cost that a phrase pays for repeating it. Chosen on squad-dev and on the dev files of five
# open-domain sets, of which TriviaQA gains most; WebQuestions, whose answers often repeat a name, would have none.
REPEATED = 0.2

_PASSAGES_AT_ONCE = 1 << 16  # some 50 MB of numbers for the words of a question

# Shape suffixes: V all terms, B questions, W words of all questions in turn, N passages asked about.


@dataclass(frozen=True, slots=True)
class TermWeights:
    """What each term is worth in a collection, deleted documents included."""

    value_V: Floats

    @classmethod
    def of(cls, segments: Sequence[Terms]) -> Self:
        passages = sum(segment.passages for segment in segments)
        with_V = np.zeros(TERMS)
        for segment in segments:
            with_V += segment.passages_V
        return cls(np.log1p((passages - with_V + 0.5) / (with_V + 0.5)).astype(np.float32))


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The different terms of questions, and what each penalties a passage that lacks it."""

    edges_B: Ints  # the first word of each question, one more than questions
    term_W: NDArray[np.uint16]  # ascending in each question
    penalty_W: Floats

    @classmethod
    def of(cls, questions: Sequence[str], values: TermWeights, weight: float) -> Self:
        found = [sorted(set[int]().union(*map(terms, parted_question(question)))) for question in questions]
        edges_B = np.cumsum([0, *map(len, found)])
        term_W = np.fromiter(chain.from_iterable(found), np.uint16, int(edges_B[-1]))
        return cls(edges_B, term_W, np.float32(weight) * values.value_V[term_W])

    def take(self, questions: Ints) -> Self:
        counts_B = np.diff(self.edges_B)[questions]
        _, chosen_W = ranges(self.edges_B[questions], counts_B)
        return type(self)(np.cumsum([0, *counts_B]), self.term_W[chosen_W], self.penalty_W[chosen_W])

    def penalties(self, segment: Terms, question_N: Ints, passage_N: Ints) -> Floats:
        """Of each passage, for the words that it lacks of the question beside it."""
        first_N = self.edges_B[question_N]
        owner, word = ranges(first_N, self.edges_B[question_N + 1] - first_N)
        lacks = ~segment.contain(passage_N[owner], self.term_W[word])
        return np.bincount(owner[lacks], self.penalty_W[word[lacks]], len(question_N)).astype(np.float32)

    def repetition_penalties(self, question_N: Ints, phrases: Iterable[str]) -> Floats:
        """Of each phrase, for the words that it repeats of the question beside it."""
        phrase, term = terms_of_each(phrases)
        wanted = question_N[phrase] * TERMS + term
        question_W = np.repeat(np.arange(len(self.edges_B) - 1), np.diff(self.edges_B))
        known = np.append(question_W * TERMS + self.term_W, -1)  # the last one is nobody's
        word = np.searchsorted(known[:-1], wanted)
        shared = known[word] == wanted
        phrase, word = np.divmod(np.unique(phrase[shared] * len(known) + word[shared]), len(known))
        return np.bincount(phrase, REPEATED * self.penalty_W[word], len(question_N)).astype(np.float32)

    def penalties_of_rows(self, segment: Segment, question_N: Ints, row_N: Ints) -> Floats:
        """Of the passage of each row, for the question beside it; a passage is looked up once for a question."""
        key_N = question_N * segment.terms.passages + owners(segment.vector_edges, row_N)
        distinct, place_N = np.unique(key_N, return_inverse=True)
        return self.penalties(segment.terms, *np.divmod(distinct, max(segment.terms.passages, 1)))[place_N]

    def penalties_of_all(self, segment: Terms, question: int) -> Floats:
        """Of every passage of a segment, for the words of one question."""
        passages = np.arange(segment.passages)
        penalties = [np.zeros(0, dtype=np.float32)]
        for first in range(0, len(passages), _PASSAGES_AT_ONCE):
            passage_N = passages[first : first + _PASSAGES_AT_ONCE]
            penalties.append(self.penalties(segment, np.full_like(passage_N, question), passage_N))
        return np.concatenate(penalties)
