"""Passages that have the identifiers of questions word for word.

The parts of `max_wal_size` are words like any other, and a vector says little of it. So a passage without an identifier
of the question pays a penalty, as for a term that it lacks, and passages with it are candidates whatever their vectors.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from densephrases.arrays import Floats, Ints, ranges
from densephrases.index.cancellation import Check, go_on
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.index.segment.reader import Segment
from densephrases.search.query.identifier_words import heading_above, identifiers_of, whole_identifier
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.text.hashed_terms import terms

# Most passages with the rarest term of an identifier for it to be looked for, and most that are candidates as a whole.
MOST_PASSAGES = 1000
MOST_CANDIDATES = 64
IDENTIFIER_PENALTY = 10.0  # of a passage without any: more than the IDF of a rare term

# Shape suffixes: N pairs of a question and a passage, P passages.


@dataclass(frozen=True, slots=True)
class IdentifiedPassages:
    """For each question with identifiers and each segment the shares of them that passages have.

    Attributes:
        shares: By question, then by the terms of a segment (as an object): passages, ascending, and their shares.
    """

    shares: Mapping[int, Mapping[int, tuple[Ints, Floats]]] = field(default_factory=dict)

    @classmethod
    def find(
        cls, questions: Sequence[str], segments: Sequence[Segment], counts: TermCounts, check: Check = go_on
    ) -> Self:
        """`counts` are those of the collection that the segments are of: frequent identifiers are not looked for."""
        identifiers = rare_identifiers(questions, counts)
        return cls.from_identifiers(identifiers, segments, check).occurring()

    @classmethod
    def from_identifiers(
        cls, identifiers: Mapping[int, Sequence[str]], segments: Sequence[Segment], check: Check = go_on
    ) -> Self:
        """Given those of each question that are looked for."""
        found = identifiers.items()
        return cls({q: {id(each.terms): _shares(each, wanted, check) for each in segments} for q, wanted in found})

    def occurring(self) -> Self:
        """Without questions whose identifiers no passage has: that tells no passages apart."""
        return type(self)(
            {number: each for number, each in self.shares.items() if any(len(p) for p, _ in each.values())}
        )

    def take(self, questions: Ints) -> Self:
        numbers = enumerate(questions.tolist())
        return type(self)({place: self.shares[number] for place, number in numbers if number in self.shares})

    def penalties(self, segment: SegmentTerms, question_N: Ints, passage_N: Ints) -> Floats:
        """Of each pair; none for questions that are not among these."""
        penalties_N = np.zeros(len(question_N), dtype=np.float32)
        for question, of_segments in self.shares.items():
            here = np.flatnonzero(question_N == question)
            passages_P, shares_P = of_segments[id(segment)]
            lacking = np.ones(len(here), dtype=np.float32)
            if len(passages_P) and len(here):
                place = np.minimum(np.searchsorted(passages_P, passage_N[here]), len(passages_P) - 1)
                lacking -= np.where(passages_P[place] == passage_N[here], shares_P[place], np.float32(0))
            penalties_N[here] = IDENTIFIER_PENALTY * lacking
        return penalties_N

    def rows(self, question: int, segment: Segment) -> Ints:
        """Of the passages with most of a question's identifiers, if they are few."""
        passages_P, shares_P = self.shares.get(question, {}).get(id(segment.terms), (_NONE, _NO_SHARES))
        best_P = passages_P[shares_P == shares_P.max(initial=0)]
        if len(best_P) > MOST_CANDIDATES:
            return _NONE
        first_P = segment.vector_edges[best_P]
        return ranges(first_P, segment.vector_edges[best_P + 1] - first_P)[1]


def rare_identifiers(questions: Sequence[str], counts: TermCounts) -> dict[int, list[str]]:
    """Those with a term that few passages have, by the numbers of the questions that have any."""
    rare = {q: [each for each in identifiers_of(text) if _is_rare(each, counts)] for q, text in enumerate(questions)}
    return {question: found for question, found in rare.items() if found}


def _is_rare(identifier: str, counts: TermCounts) -> bool:
    parts = sorted(terms(identifier))
    return bool(parts) and int(counts.having_V[parts].min()) <= MOST_PASSAGES


def _shares(segment: Segment, wanted: Sequence[str], check: Check) -> tuple[Ints, Floats]:
    shares: dict[int, float] = {}
    for identifier in wanted:
        check()
        for passage in set(_passages_with(segment, identifier)):
            shares[passage] = shares.get(passage, 0.0) + 1 / len(wanted)
    passages = sorted(shares)
    return np.array(passages, dtype=np.int64), np.array([shares[each] for each in passages], dtype=np.float32)


def _passages_with(segment: Segment, identifier: str) -> Iterator[int]:
    """In text or title; also the passage after one that ends with the identifier in a heading."""
    pattern = whole_identifier(identifier)
    for passage in segment.terms.passages_with(sorted(terms(identifier))).tolist():
        text = segment.passage_text(passage)
        if pattern.search(text) or _in_title(segment, passage, pattern):
            yield passage
            follows = passage + 1 < segment.terms.passages and _are_of_one_document(segment, passage)
            if follows and pattern.search(heading_above(text) or ""):
                yield passage + 1


def _in_title(segment: Segment, passage: int, pattern: re.Pattern[str]) -> bool:
    return pattern.search(segment.record(int(segment.passage_documents[passage])).title) is not None


def _are_of_one_document(segment: Segment, passage: int) -> bool:
    return bool(segment.passage_documents[passage] == segment.passage_documents[passage + 1])


_NONE = np.zeros(0, dtype=np.int64)
_NO_SHARES = np.zeros(0, dtype=np.float32)
