"""All phrases of a segment that start or end at a candidate row, scored from the stored vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from densephrases.arrays import Floats, Ints, contains, distinct, ranges
from densephrases.index.cancellation import Check, go_on
from densephrases.index.segment.reader import Segment
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import SearchableSegment

_STARTS_AT_ONCE = 1 << 15  # whose phrases take about 100 MB and a tenth of a second

# Shape suffixes, all but B and D over all questions: B questions, D vector size, H candidate rows, N phrases,
# K different rows at which phrases begin, or end.


@dataclass(frozen=True, slots=True)
class Queries:
    """The start and end vector of each question, and its terms if lexical overlap counts."""

    start_BD: Floats
    end_BD: Floats
    terms: QuestionTerms | None = None

    def __len__(self) -> int:
        return len(self.start_BD)

    def take(self, questions: Ints) -> "Queries":
        terms = None if self.terms is None else self.terms.take(questions)
        return Queries(self.start_BD[questions], self.end_BD[questions], terms)


@dataclass(frozen=True, slots=True)
class Hits:
    """Candidate rows of one segment, sorted by question and row, without duplicates."""

    question_H: Ints
    row_H: Ints

    @classmethod
    def none(cls) -> "Hits":
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.row_H)

    def take(self, chosen: slice) -> "Hits":
        return Hits(self.question_H[chosen], self.row_H[chosen])

    def of_question(self, question: int, further_rows: Ints) -> "Hits":
        """The rows of one question and further ones, numbered as if it were the only question."""
        row_H = np.union1d(self.row_H[self.question_H == question], further_rows)
        return Hits(np.zeros_like(row_H), row_H)

    def with_rows(self, rows: Sequence[Ints]) -> "Hits":
        """With further rows of each question."""
        question_H = np.concatenate([self.question_H, np.repeat(np.arange(len(rows)), [len(each) for each in rows])])
        row_H = np.concatenate([self.row_H, *rows])
        return Hits(*np.unique(np.stack([question_H, row_H]), axis=1))

    @classmethod
    def everything(cls, questions: int, rows_N: Ints) -> "Hits":
        return cls(np.repeat(np.arange(questions), len(rows_N)), np.tile(rows_N, questions))


@dataclass(frozen=True, slots=True)
class ScoredPhrases:
    """Phrases of one segment, from row `start` to row `end` inclusive, with their scores.

    `weakest_start_B` and `weakest_end_B` are the lowest scores among a question's candidates, inf if it has none.
    """

    question_N: Ints
    start_N: Ints
    end_N: Ints
    score_N: Floats
    weakest_start_B: Floats
    weakest_end_B: Floats

    def reaching(self, least: float) -> "ScoredPhrases":
        """Without the phrases that score lower."""
        chosen = np.flatnonzero(self.score_N >= least)
        return replace(
            self,
            question_N=self.question_N[chosen],
            start_N=self.start_N[chosen],
            end_N=self.end_N[chosen],
            score_N=self.score_N[chosen],
        )


def score_phrases(
    searchable: SearchableSegment,
    queries: Queries,
    starts: Hits,
    ends: Hits,
    length_penalty: float,
    check: Check = go_on,
) -> Iterator[ScoredPhrases]:
    """Every phrase that starts at one of `starts` or ends at one of `ends`, once; in parts if there are many."""
    if len(starts) <= _STARTS_AT_ONCE:
        yield _scored(searchable, queries, starts, ends, starts, length_penalty, check)
        return
    for first in range(0, len(starts), _STARTS_AT_ONCE):
        some = starts.take(slice(first, first + _STARTS_AT_ONCE))
        yield _scored(searchable, queries, some, Hits.none(), some, length_penalty, check)
    yield _scored(searchable, queries, Hits.none(), ends, starts, length_penalty, check)


def _scored(
    searchable: SearchableSegment,
    queries: Queries,
    starts: Hits,
    ends: Hits,
    known: Hits,
    length_penalty: float,
    check: Check,
) -> ScoredPhrases:
    """The phrases of `starts`, and those of `ends` that do not start at a known start."""
    check()
    segment = searchable.segment
    start_of, end_N = _ends_of(segment, starts)
    end_of, start_N = _starts_of(searchable, ends, known)
    begins = _DistinctRows.from_hits(segment, starts, ends.question_H[end_of], start_N)
    stops = _DistinctRows.from_hits(segment, ends, starts.question_H[start_of], end_N)
    begin_scores_K, stop_scores_K = _scores(segment, queries, begins, stops, check)
    begin_at = np.concatenate([begins.hit_H[start_of], begins.other_N])
    stop_at = np.concatenate([stops.other_N, stops.hit_H[end_of]])
    begin_K = segment.token_offsets(begins.row_K)
    stop_K = segment.token_offsets(stops.row_K) + segment.lengths(stops.row_K)
    score_N = (
        begin_scores_K[begin_at]
        + stop_scores_K[stop_at]
        - np.float32(length_penalty) * (stop_K[stop_at] - begin_K[begin_at]).astype(np.float32)
    )
    if queries.terms is not None:
        score_N -= queries.terms.penalties_of_rows(segment, begins.question_K, begins.row_K)[begin_at]
    return ScoredPhrases(
        begins.question_K[begin_at],
        begins.row_K[begin_at],
        stops.row_K[stop_at],
        score_N,
        _least(begin_scores_K[begins.hit_H], starts.question_H, len(queries)),
        _least(stop_scores_K[stops.hit_H], ends.question_H, len(queries)),
    )


@dataclass(frozen=True, slots=True)
class _DistinctRows:
    """The rows at which phrases start, or at which they end, each once per question even if windows overlap.

    `hit_H` is the position of each candidate among these rows, `other_N` that of each row reached from a candidate
    at the other end of a phrase.
    """

    question_K: Ints
    row_K: Ints
    hit_H: Ints
    other_N: Ints

    @classmethod
    def from_hits(cls, segment: Segment, hits: Hits, question_N: Ints, row_N: Ints) -> "_DistinctRows":
        keys = [_keys(segment, hits.question_H, hits.row_H), _keys(segment, question_N, row_N)]
        distinct_K, place = distinct(np.concatenate(keys))
        question_K, row_K = np.divmod(distinct_K, max(segment.vectors, 1))
        return cls(question_K, row_K, place[: len(hits.row_H)], place[len(hits.row_H) :])


def _scores(
    segment: Segment, queries: Queries, begins: _DistinctRows, stops: _DistinctRows, check: Check
) -> tuple[Floats, Floats]:
    """Inner products of start rows with start vectors and of end rows with end vectors, in one call of the store."""
    both_BD = np.concatenate([queries.start_BD, queries.end_BD])
    asked = np.concatenate([begins.question_K, stops.question_K + len(queries)])
    edges_B = np.searchsorted(asked, np.arange(len(both_BD) + 1))
    scores = segment.store.own_scores(both_BD, np.concatenate([begins.row_K, stops.row_K]), edges_B, check)
    return scores[: len(begins.row_K)], scores[len(begins.row_K) :]


def _ends_of(segment: Segment, starts: Hits) -> tuple[Ints, Ints]:
    return ranges(starts.row_H, segment.max_span(starts.row_H) + 1)


def _starts_of(searchable: SearchableSegment, ends: Hits, known: Hits) -> tuple[Ints, Ints]:
    """Starts of the phrases that end at `ends`, without the known ones, whose ends are all known as well."""
    segment = searchable.segment
    first_H = np.maximum(ends.row_H - searchable.longest_span, 0)
    owner_N, start_N = ranges(first_H, ends.row_H - first_H + 1)
    new_N = start_N + segment.max_span(start_N) >= ends.row_H[owner_N]
    owner_N, start_N = owner_N[new_N], start_N[new_N]
    known_H = _keys(segment, known.question_H, known.row_H)
    new_N = ~contains(known_H, _keys(segment, ends.question_H[owner_N], start_N))
    return owner_N[new_N], start_N[new_N]


def _keys(segment: Segment, question_N: Ints, row_N: Ints) -> Ints:
    return question_N * segment.vectors + row_N


def _least(scores_H: Floats, question_H: Ints, questions: int) -> Floats:
    least_B = np.full(questions, np.inf, dtype=np.float32)
    np.minimum.at(least_B, question_H, scores_H)
    return least_B
