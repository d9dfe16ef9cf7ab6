"""All phrases of a segment that begin or end at a candidate row, scored from the store."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from densephrases.search.collection import Floats, Mask, Part, Rows, Segment
from densephrases.search.ranges import ranges
from densephrases.search.wording import QuestionWords

# Shape suffixes, all but B and D over all questions: B questions, D vector size, H candidate rows, N phrases,
# K different rows of the phrases of a question.


@dataclass(frozen=True, slots=True)
class Queries:
    """The two vectors of each question, and its words if they count."""

    start_BD: Floats
    end_BD: Floats
    words: QuestionWords | None = None

    def __len__(self) -> int:
        return len(self.start_BD)

    def take(self, questions: Rows) -> "Queries":
        words = None if self.words is None else self.words.take(questions)
        return Queries(self.start_BD[questions], self.end_BD[questions], words)


@dataclass(frozen=True, slots=True)
class Hits:
    """Candidate rows of one segment, ordered by question and row, none twice for a question."""

    question_H: Rows
    row_H: Rows

    @classmethod
    def none(cls) -> "Hits":
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def of_question(self, question: int, further_rows: Rows) -> "Hits":
        """Those of one question, which is then the only one, and further rows."""
        row_H = np.union1d(self.row_H[self.question_H == question], further_rows)
        return Hits(np.zeros_like(row_H), row_H)

    @classmethod
    def everything(cls, questions: int, rows_N: Rows) -> "Hits":
        return cls(np.repeat(np.arange(questions), len(rows_N)), np.tile(rows_N, questions))


@dataclass(frozen=True, slots=True)
class Window:
    """Phrases, rows `start` to `end` both inclusive, with their scores.

    `weakest_start_B` and `weakest_end_B` are the lowest scores of a question's candidates, inf where it has none.
    """

    question_N: Rows
    start_N: Rows
    end_N: Rows
    score_N: Floats
    weakest_start_B: Floats
    weakest_end_B: Floats


def scored_window(part: Part, queries: Queries, starts: Hits, ends: Hits, length_penalty: float) -> Window:
    """Every phrase that begins at one of `starts` or ends at one of `ends`, once."""
    segment = part.segment
    start_of, end_N = _ends_of(segment, starts)
    end_of, start_N = _starts_of(part, ends, starts)
    # A phrase may be a single row, so these are all rows of all phrases, the candidates among them.
    keys = [_keys(segment, starts.question_H[start_of], end_N), _keys(segment, ends.question_H[end_of], start_N)]
    distinct, places = np.unique(np.concatenate(keys), return_inverse=True)
    scores_2K = _scores(segment, queries, distinct)
    starts_at, ends_at = (np.searchsorted(distinct, _keys(segment, h.question_H, h.row_H)) for h in (starts, ends))
    start_at = np.concatenate([starts_at[start_of], places[len(end_N) :]])
    end_at = np.concatenate([places[: len(end_N)], ends_at[end_of]])
    question_K, row_K = np.divmod(distinct, max(segment.rows, 1))
    begin_K = segment.places(row_K)
    stop_K = begin_K + segment.lengths(row_K)
    score_N = (
        scores_2K[0, start_at]
        + scores_2K[1, end_at]
        - np.float32(length_penalty) * (stop_K[end_at] - begin_K[start_at]).astype(np.float32)
    )
    if queries.words is not None:
        score_N -= queries.words.costs_of_rows(segment, question_K, row_K)[start_at]
    return Window(
        question_K[start_at],
        row_K[start_at],
        row_K[end_at],
        score_N,
        _least(scores_2K[0, starts_at], starts.question_H, len(queries)),
        _least(scores_2K[1, ends_at], ends.question_H, len(queries)),
    )


def _ends_of(segment: Segment, starts: Hits) -> tuple[Rows, Rows]:
    return ranges(starts.row_H, segment.reach(starts.row_H) + 1)


def _starts_of(part: Part, ends: Hits, starts: Hits) -> tuple[Rows, Rows]:
    """Without those among `starts`, of which all ends are known already."""
    segment = part.segment
    first_H = np.maximum(ends.row_H - part.longest_reach, 0)
    owner_N, start_N = ranges(first_H, ends.row_H - first_H + 1)
    new_N = start_N + segment.reach(start_N) >= ends.row_H[owner_N]
    owner_N, start_N = owner_N[new_N], start_N[new_N]
    known = _keys(segment, starts.question_H, starts.row_H)
    new_N = ~_contains(known, _keys(segment, ends.question_H[owner_N], start_N))
    return owner_N[new_N], start_N[new_N]


def _keys(segment: Segment, question_N: Rows, row_N: Rows) -> Rows:
    return question_N * segment.rows + row_N


def _contains(ordered_H: Rows, keys_N: Rows) -> Mask:
    if len(ordered_H) == 0:
        return np.zeros(len(keys_N), dtype=bool)
    place_N = np.minimum(np.searchsorted(ordered_H, keys_N), len(ordered_H) - 1)
    return np.asarray(ordered_H[place_N] == keys_N)


def _scores(segment: Segment, queries: Queries, keys_K: Rows) -> Floats:
    """Start and end scores (2, K) of ordered keys: each question's rows are read once, however windows overlap."""
    scores_2K = np.empty((2, len(keys_K)), dtype=np.float32)
    edges = np.searchsorted(keys_K, np.arange(len(queries) + 1) * segment.rows).tolist()
    for question, (first, stop) in enumerate(pairwise(edges)):
        if stop > first:
            both_2D = np.stack([queries.start_BD[question], queries.end_BD[question]])
            scores_2K[:, first:stop] = segment.store.batch_scores(keys_K[first:stop] - question * segment.rows, both_2D)
    return scores_2K


def _least(scores_H: Floats, question_H: Rows, questions: int) -> Floats:
    least_B = np.full(questions, np.inf, dtype=np.float32)
    np.minimum.at(least_B, question_H, scores_H)
    return least_B
