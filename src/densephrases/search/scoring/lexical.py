"""Lexical overlap: a passage pays a penalty for each term of the question that neither its text nor its title has.

The penalty of a term is the weight times its inverse document frequency (IDF, as in BM25). Term frequency and passage
length do not count: neither helped on SQuAD. A phrase that repeats a term of the question pays a share of the penalty,
because answers seldom repeat the question.

To subtract missing terms ranks passages exactly as to add matching ones. But a score then means the same in small and
large collections and for short and long questions, and it is low if a question has terms that no passage has, so that
confidences can be calibrated better.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints, owners, ranges
from densephrases.index.cancellation import Check, go_on
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.index.segment.reader import Segment
from densephrases.index.snapshot import Snapshot
from densephrases.model.tokenizer import parted_question
from densephrases.search.scoring.identified import IdentifiedPassages
from densephrases.text.hashed_terms import TERMS, terms, terms_of_each

# Share of a term's penalty that a phrase pays for repeating it. Chosen on squad-dev and the dev files of five
# open-domain sets: TriviaQA gains most; WebQuestions, whose answers often repeat a name, would do best with 0.
REPETITION_SHARE = 0.2

_NO_PASSAGES = np.zeros(0, dtype=np.int64)
_PASSAGES_AT_ONCE = 1 << 16  # takes about 50 MB for the terms of one question

# Shape suffixes: V all terms, B questions, W terms of all questions one after the other, N pairs that are scored.


@dataclass(frozen=True, slots=True)
class TermWeights:
    """The IDF of each term in a collection without its deleted documents."""

    idf_V: Floats

    @classmethod
    def from_snapshot(cls, index: Snapshot) -> Self:
        pairs = list(zip(index.segments, index.deleted, strict=True))
        gone = [_NO_PASSAGES if marks is None else np.flatnonzero(marks[s.passage_documents]) for s, marks in pairs]
        return cls.from_segments([segment.terms for segment in index.segments], gone)

    @classmethod
    def from_segments(cls, segments: Sequence[SegmentTerms], gone: Sequence[Ints] | None = None) -> Self:
        """Of all passages but those that are gone, given for each segment by their numbers."""
        passages = 0
        having_V = np.zeros(TERMS)
        for segment, gone_P in zip(segments, gone or [_NO_PASSAGES] * len(segments), strict=True):
            passages += segment.passages - len(gone_P)
            having_V += segment.passages_V - segment.passages_having(gone_P)
        return cls(np.log1p((passages - having_V + 0.5) / (having_V + 0.5)).astype(np.float32))


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The distinct terms of several questions, each with the penalty of a passage that lacks it."""

    edges_B: Ints  # the first term of each question; one more than questions
    term_W: NDArray[np.uint16]  # ascending within a question
    penalty_W: Floats
    identified: IdentifiedPassages | None = None  # passages without the identifiers of a question pay for that as well

    @classmethod
    def from_questions(cls, questions: Sequence[str], weights: TermWeights, lexical_weight: float) -> Self:
        found = [sorted(set[int]().union(*map(terms, parted_question(question)))) for question in questions]
        edges_B = np.cumsum([0, *map(len, found)])
        term_W = np.fromiter(chain.from_iterable(found), np.uint16, int(edges_B[-1]))
        return cls(edges_B, term_W, np.float32(lexical_weight) * weights.idf_V[term_W])

    def take(self, questions: Ints) -> Self:
        counts_B = np.diff(self.edges_B)[questions]
        _, chosen_W = ranges(self.edges_B[questions], counts_B)
        identified = None if self.identified is None else self.identified.take(questions)
        return type(self)(np.cumsum([0, *counts_B]), self.term_W[chosen_W], self.penalty_W[chosen_W], identified)

    def penalties(self, segment: SegmentTerms, question_N: Ints, passage_N: Ints) -> Floats:
        """For each pair of a question and a passage the penalties of what of the question the passage lacks."""
        first_N = self.edges_B[question_N]
        pair, word = ranges(first_N, self.edges_B[question_N + 1] - first_N)
        missing = ~segment.contain(passage_N[pair], self.term_W[word])
        penalties_N = np.bincount(pair[missing], self.penalty_W[word[missing]], len(question_N)).astype(np.float32)
        if self.identified is None:
            return penalties_N
        return penalties_N + self.identified.penalties(segment, question_N, passage_N)

    def repetition_penalties(self, question_N: Ints, phrases: Iterable[str]) -> Floats:
        """For each pair of a question and a phrase the penalties of the question's terms that the phrase repeats."""
        return self.matched(question_N, phrases, REPETITION_SHARE)

    def matched(self, question_N: Ints, texts: Iterable[str], share: float = 1.0) -> Floats:
        """For each pair of a question and a text a share of the penalties of the question's terms that the text has."""
        text, term = terms_of_each(texts)
        wanted = question_N[text] * TERMS + term
        question_W = np.repeat(np.arange(len(self.edges_B) - 1), np.diff(self.edges_B))
        known = np.append(question_W * TERMS + self.term_W, -1)  # the last one belongs to no question
        word = np.searchsorted(known[:-1], wanted)
        shared = known[word] == wanted
        text, word = np.divmod(np.unique(text[shared] * len(known) + word[shared]), len(known))
        return np.bincount(text, share * self.penalty_W[word], len(question_N)).astype(np.float32)

    def penalties_of_rows(self, segment: Segment, question_N: Ints, row_N: Ints) -> Floats:
        """As `penalties`, with passages given by one of their rows; each passage is looked up once for a question."""
        key_N = question_N * segment.terms.passages + owners(segment.vector_edges, row_N)
        distinct, place_N = np.unique(key_N, return_inverse=True)
        return self.penalties(segment.terms, *np.divmod(distinct, max(segment.terms.passages, 1)))[place_N]

    def penalties_of_all(self, segment: SegmentTerms, question: int, check: Check = go_on) -> Floats:
        """The penalty of every passage of a segment for one question."""
        passages = np.arange(segment.passages)
        penalties = [np.zeros(0, dtype=np.float32)]
        for first in range(0, len(passages), _PASSAGES_AT_ONCE):
            check()
            passage_N = passages[first : first + _PASSAGES_AT_ONCE]
            penalties.append(self.penalties(segment, np.full_like(passage_N, question), passage_N))
        return np.concatenate(penalties)
