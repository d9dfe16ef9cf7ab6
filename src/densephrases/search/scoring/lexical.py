"""Lexical overlap: a passage pays a penalty for each term of the question that neither its text nor its title has.

The penalty of a term is the weight times its inverse document frequency (IDF, as in BM25). Term frequency and passage
length do not count: neither helped on SQuAD. A phrase that repeats a term of the question pays a share of the penalty,
because answers seldom repeat the question.

To subtract missing terms ranks passages exactly as to add matching ones. But a score then means the same in small and
large collections and for short and long questions, and it is low if a question has terms that no passage has, so that
confidences can be calibrated better.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints, contains, distinct, owners, ranges
from densephrases.index.cancellation import Check, go_on
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.index.segment.reader import Segment
from densephrases.index.snapshot import Snapshot
from densephrases.model.tokenizer import parted_question
from densephrases.search.scoring.identified import IdentifiedPassages
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.text.hashed_terms import prefixes
from densephrases.text.searched_text import SearchedText

# Share of a term's penalty that a phrase pays for repeating it. Chosen on squad-dev and the dev files of five
# open-domain sets: TriviaQA gains most; WebQuestions, whose answers often repeat a name, would do best with 0.
REPETITION_SHARE = 0.2

_PASSAGES_AT_ONCE = 1 << 16  # takes about 50 MB for the terms of one question
_NO_KEYS = np.zeros(0, dtype=np.int64)
_NO_PENALTIES = np.zeros(0, dtype=np.float32)

SpanInText = tuple[SearchedText, int, int]
"""A text and the characters of a phrase in it."""

PenaltiesOfText = Sequence[tuple[float, Sequence[int]]]
"""The penalties of the terms of a question that a text has, and where these stand in it."""

# Shape suffixes: V all terms, B questions, W terms of all questions one after the other, N pairs that are scored,
# K different ones.


@dataclass(frozen=True, slots=True)
class TermWeights:
    """The IDF of each term in a collection."""

    idf_V: Floats

    @classmethod
    def from_counts(cls, counts: TermCounts) -> Self:
        passages, having_V = counts.passages, counts.having_V
        return cls(np.log1p((passages - having_V + 0.5) / (having_V + 0.5)).astype(np.float32))

    @classmethod
    def from_snapshot(cls, index: Snapshot) -> Self:
        return cls.from_counts(TermCounts.from_snapshot(index))

    @classmethod
    def from_segments(cls, segments: Sequence[SegmentTerms]) -> Self:
        return cls.from_counts(TermCounts.from_segments(segments))


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """The distinct terms of several questions, each with the penalty of a passage that lacks it."""

    edges_B: Ints  # the first term of each question; one more than questions
    term_W: NDArray[np.uint16]  # ascending within a question
    penalty_W: Floats
    prefixes: Sequence[str]  # what each term is the hash of
    identified: IdentifiedPassages | None = None  # passages without the identifiers of a question pay for that as well
    _known: dict[int, tuple[Ints, Floats]] = field(default_factory=dict, repr=False, compare=False)  # by segment

    @classmethod
    def from_questions(cls, questions: Sequence[str], weights: TermWeights, lexical_weight: float) -> Self:
        found = [sorted(_prefixes(question).items()) for question in questions]
        edges_B = np.cumsum([0, *map(len, found)])
        every = list(chain.from_iterable(found))
        term_W = np.array([term for term, _ in every], dtype=np.uint16)
        return cls(edges_B, term_W, np.float32(lexical_weight) * weights.idf_V[term_W], [each for _, each in every])

    def take(self, questions: Ints) -> Self:
        counts_B = np.diff(self.edges_B)[questions]
        _, chosen_W = ranges(self.edges_B[questions], counts_B)
        identified = None if self.identified is None else self.identified.take(questions)
        prefixes = [self.prefixes[word] for word in chosen_W.tolist()]
        edges_B = np.cumsum([0, *counts_B])
        return type(self)(edges_B, self.term_W[chosen_W], self.penalty_W[chosen_W], prefixes, identified)

    def penalties(self, segment: SegmentTerms, question_N: Ints, passage_N: Ints) -> Floats:
        """For each pair of a question and a passage the penalties of what of the question the passage lacks."""
        first_N = self.edges_B[question_N]
        pair, word = ranges(first_N, self.edges_B[question_N + 1] - first_N)
        missing = ~segment.contain(passage_N[pair], self.term_W[word])
        penalties_N = np.bincount(pair[missing], self.penalty_W[word[missing]], len(question_N)).astype(np.float32)
        return self._and_identified(penalties_N, segment, question_N, passage_N)

    def _and_identified(self, penalties_N: Floats, segment: SegmentTerms, question_N: Ints, passage_N: Ints) -> Floats:
        if self.identified is None:
            return penalties_N
        return penalties_N + self.identified.penalties(segment, question_N, passage_N)

    def repetition_penalties(self, question_N: Ints, phrases: Iterable[SpanInText]) -> Floats:
        """For each pair of a question and a phrase the penalties of the question's terms that the phrase repeats."""
        penalty_of = {question: self.repetition_penalty(question) for question in set(question_N.tolist())}
        pairs = zip(question_N.tolist(), phrases, strict=True)
        return np.fromiter((penalty_of[question](*phrase) for question, phrase in pairs), np.float32, len(question_N))

    def repetition_penalty(self, question: int) -> Callable[[SearchedText, int, int], np.float32]:
        """That of a phrase, given by whole words of a text."""
        occurring, share = self.occurring(question), np.float32(REPETITION_SHARE)

        def penalty(text: SearchedText, start: int, end: int) -> np.float32:
            repeated = 0.0
            for lost, positions in occurring(text):
                for at in positions:
                    if start <= at < end:
                        repeated += lost
                        break
            return share * np.float32(repeated)

        return penalty

    def occurring(self, question: int) -> Callable[[SearchedText], PenaltiesOfText]:
        """Gives the terms of a question that a text has."""
        own = slice(*self.edges_B[question : question + 2].tolist())
        wanted, penalties = tuple(self.prefixes[own]), self.penalty_W[own].tolist()
        return lambda text: [(penalties[place], positions) for place, positions in text.occurring(wanted)]

    def penalties_of_rows(self, segment: Segment, question_N: Ints, row_N: Ints) -> Floats:
        """As `penalties`, with passages given by one of their rows; each passage is looked up once in a search."""
        passages = max(segment.terms.passages, 1)
        key_K, place_N = distinct(question_N * passages + owners(segment.vector_edges, row_N))
        penalties_K = self._known_penalties(segment.terms, key_K)
        return self._and_identified(penalties_K, segment.terms, *np.divmod(key_K, passages))[place_N]

    def _known_penalties(self, segment: SegmentTerms, key_K: Ints) -> Floats:
        """As `penalties` without identifiers; keys are questions times the number of passages, plus the passage."""
        known_K, penalties_K = self._known.get(id(segment), (_NO_KEYS, _NO_PENALTIES))
        new_K = key_K[~contains(known_K, key_K)]
        if len(new_K):
            alone = replace(self, identified=None)
            penalties = alone.penalties(segment, *np.divmod(new_K, max(segment.passages, 1)))
            known_K, penalties_K = np.concatenate([known_K, new_K]), np.concatenate([penalties_K, penalties])
            order = known_K.argsort(kind="stable")
            known_K, penalties_K = self._known[id(segment)] = known_K[order], penalties_K[order]
        return np.asarray(penalties_K[known_K.searchsorted(key_K)])

    def penalties_of_all(self, segment: SegmentTerms, question: int, check: Check = go_on) -> Floats:
        """The penalty of every passage of a segment for one question."""
        passages = np.arange(segment.passages)
        penalties = [np.zeros(0, dtype=np.float32)]
        for first in range(0, len(passages), _PASSAGES_AT_ONCE):
            check()
            passage_N = passages[first : first + _PASSAGES_AT_ONCE]
            penalties.append(self.penalties(segment, np.full_like(passage_N, question), passage_N))
        return np.concatenate(penalties)


def _prefixes(question: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for part in parted_question(question):
        found = prefixes(part) | found
    return found
