"""All phrases of a segment that begin or end at a candidate row, scored from the store."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from densephrases.search.collection import Floats, Mask, Rows, Segment

# Shape suffixes: B questions, D vector size, H candidate rows of all questions, N phrases of all questions.


@dataclass(frozen=True, slots=True)
class Queries:
    """The two vectors of each question."""

    start_BD: Floats
    end_BD: Floats

    def __len__(self) -> int:
        return len(self.start_BD)

    def take(self, questions: Rows) -> "Queries":
        return Queries(self.start_BD[questions], self.end_BD[questions])


@dataclass(frozen=True, slots=True)
class Hits:
    """Candidate rows of one segment, ordered by question and row, none twice for a question."""

    question_H: Rows
    row_H: Rows

    @classmethod
    def none(cls) -> "Hits":
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @classmethod
    def everything(cls, questions: int, rows_N: Rows) -> "Hits":
        return cls(np.repeat(np.arange(questions), len(rows_N)), np.tile(rows_N, questions))


@dataclass(frozen=True, slots=True)
class Spans:
    """Rows `start` to `end`, both inclusive, as a possible answer to a question."""

    question_N: Rows
    start_N: Rows
    end_N: Rows

    def join(self, other: "Spans") -> "Spans":
        return Spans(
            np.concatenate([self.question_N, other.question_N]),
            np.concatenate([self.start_N, other.start_N]),
            np.concatenate([self.end_N, other.end_N]),
        )


@dataclass(frozen=True, slots=True)
class Window:
    """Scored spans, and for each question the score of its weakest candidate start and end."""

    spans: Spans
    score_N: Floats
    weakest_start_B: Floats
    weakest_end_B: Floats


def scored_window(segment: Segment, queries: Queries, starts: Hits, ends: Hits, length_penalty: float) -> Window:
    """Every phrase that begins at one of `starts` or ends at one of `ends`, once."""
    spans = _spans_from(segment, starts).join(_spans_to(segment, ends, starts))
    start_N, start_H = _read(segment, queries.start_BD, spans.question_N, spans.start_N, starts)
    end_N, end_H = _read(segment, queries.end_BD, spans.question_N, spans.end_N, ends)
    stops_N = segment.begins_R[spans.end_N].astype(np.int64) + segment.lengths_R[spans.end_N]
    penalty_N = np.float32(length_penalty) * (stops_N - segment.begins_R[spans.start_N]).astype(np.float32)
    return Window(
        spans,
        start_N + end_N - penalty_N,
        _least(start_H, starts.question_H, len(queries)),
        _least(end_H, ends.question_H, len(queries)),
    )


def _spans_from(segment: Segment, starts: Hits) -> Spans:
    owner_N, end_N = _ranges(starts.row_H, segment.reach_R[starts.row_H].astype(np.int64) + 1)
    return Spans(starts.question_H[owner_N], starts.row_H[owner_N], end_N)


def _spans_to(segment: Segment, ends: Hits, starts: Hits) -> Spans:
    """Without the spans from `starts`, of which all ends are known already."""
    first_H = np.maximum(ends.row_H - segment.longest_reach, 0)
    owner_N, start_N = _ranges(first_H, ends.row_H - first_H + 1)
    question_N, end_N = ends.question_H[owner_N], ends.row_H[owner_N]
    new_N = start_N + segment.reach_R[start_N] >= end_N
    new_N &= ~_contains(_keys(segment, starts.question_H, starts.row_H), _keys(segment, question_N, start_N))
    return Spans(question_N[new_N], start_N[new_N], end_N[new_N])


def _ranges(first_H: Rows, count_H: Rows) -> tuple[Rows, Rows]:
    """The numbers first, first + 1, ... , `count` of them, of every pair in turn, and which pair each belongs to."""
    owner_N = np.repeat(np.arange(len(count_H)), count_H)
    before_H = np.cumsum(count_H) - count_H
    return owner_N, np.arange(len(owner_N)) + (first_H - before_H)[owner_N]


def _keys(segment: Segment, question_N: Rows, row_N: Rows) -> Rows:
    return question_N * segment.rows + row_N


def _contains(ordered_H: Rows, keys_N: Rows) -> Mask:
    if len(ordered_H) == 0:
        return np.zeros(len(keys_N), dtype=bool)
    place_N = np.minimum(np.searchsorted(ordered_H, keys_N), len(ordered_H) - 1)
    return np.asarray(ordered_H[place_N] == keys_N)


def _read(segment: Segment, queries_BD: Floats, question_N: Rows, row_N: Rows, hits: Hits) -> tuple[Floats, Floats]:
    """The scores of the rows and of the hits; overlapping windows are read once."""
    keys = np.concatenate([_keys(segment, question_N, row_N), _keys(segment, hits.question_H, hits.row_H)])
    distinct, places = np.unique(keys, return_inverse=True)
    scores = np.empty(len(distinct), dtype=np.float32)
    edges = np.searchsorted(distinct, np.arange(len(queries_BD) + 1) * segment.rows).tolist()
    for question, (first, stop) in enumerate(pairwise(edges)):
        if stop > first:
            rows = distinct[first:stop] - question * segment.rows
            scores[first:stop] = segment.store.scores(rows, queries_BD[question])
    found = scores[places]
    return found[: len(row_N)], found[len(row_N) :]


def _least(scores_H: Floats, question_H: Rows, questions: int) -> Floats:
    least_B = np.full(questions, np.inf, dtype=np.float32)
    np.minimum.at(least_B, question_H, scores_H)
    return least_B
