"""All phrases of a segment that begin or end at a candidate row, scored from the store."""

from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Floats, Ints, Mask, ranges
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import Part, Segment

# Shape suffixes, all but B and D over all questions: B questions, D vector size, H candidate rows, N phrases,
# K different rows at which phrases begin, or end.


@dataclass(frozen=True, slots=True)
class Queries:
    """The two vectors of each question, and its words if they count."""

    start_BD: Floats
    end_BD: Floats
    words: QuestionTerms | None = None

    def __len__(self) -> int:
        return len(self.start_BD)

    def take(self, questions: Ints) -> "Queries":
        words = None if self.words is None else self.words.take(questions)
        return Queries(self.start_BD[questions], self.end_BD[questions], words)


@dataclass(frozen=True, slots=True)
class Hits:
    """Candidate rows of one segment, ordered by question and row, none twice for a question."""

    question_H: Ints
    row_H: Ints

    @classmethod
    def none(cls) -> "Hits":
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def of_question(self, question: int, further_rows: Ints) -> "Hits":
        """Those of one question, which is then the only one, and further rows."""
        row_H = np.union1d(self.row_H[self.question_H == question], further_rows)
        return Hits(np.zeros_like(row_H), row_H)

    @classmethod
    def everything(cls, questions: int, rows_N: Ints) -> "Hits":
        return cls(np.repeat(np.arange(questions), len(rows_N)), np.tile(rows_N, questions))


@dataclass(frozen=True, slots=True)
class Window:
    """Phrases, rows `start` to `end` both inclusive, with their scores.

    `weakest_start_B` and `weakest_end_B` are the lowest scores of a question's candidates, inf where it has none.
    """

    question_N: Ints
    start_N: Ints
    end_N: Ints
    score_N: Floats
    weakest_start_B: Floats
    weakest_end_B: Floats


def scored_window(part: Part, queries: Queries, starts: Hits, ends: Hits, length_penalty: float) -> Window:
    """Every phrase that begins at one of `starts` or ends at one of `ends`, once."""
    segment = part.segment
    start_of, end_N = _ends_of(segment, starts)
    end_of, start_N = _starts_of(part, ends, starts)
    begins = _Boundaries.of(segment, starts, ends.question_H[end_of], start_N)
    stops = _Boundaries.of(segment, ends, starts.question_H[start_of], end_N)
    begin_scores_K, stop_scores_K = _scores(segment, queries, begins, stops)
    begin_at = np.concatenate([begins.hit_H[start_of], begins.other_N])
    stop_at = np.concatenate([stops.other_N, stops.hit_H[end_of]])
    begin_K = segment.token_offsets(begins.row_K)
    stop_K = segment.token_offsets(stops.row_K) + segment.lengths(stops.row_K)
    score_N = (
        begin_scores_K[begin_at]
        + stop_scores_K[stop_at]
        - np.float32(length_penalty) * (stop_K[stop_at] - begin_K[begin_at]).astype(np.float32)
    )
    if queries.words is not None:
        score_N -= queries.words.penalties_of_rows(segment, begins.question_K, begins.row_K)[begin_at]
    return Window(
        begins.question_K[begin_at],
        begins.row_K[begin_at],
        stops.row_K[stop_at],
        score_N,
        _least(begin_scores_K[begins.hit_H], starts.question_H, len(queries)),
        _least(stop_scores_K[stops.hit_H], ends.question_H, len(queries)),
    )


@dataclass(frozen=True, slots=True)
class _Boundaries:
    """Ints at which phrases begin, or those at which they end, each once for a question however windows overlap.

    `hit_H` and `other_N` say which of these rows the candidates are, and the rows at which other candidates' phrases
    begin or end.
    """

    question_K: Ints
    row_K: Ints
    hit_H: Ints
    other_N: Ints

    @classmethod
    def of(cls, segment: Segment, hits: Hits, question_N: Ints, row_N: Ints) -> "_Boundaries":
        keys = [_keys(segment, hits.question_H, hits.row_H), _keys(segment, question_N, row_N)]
        distinct_K, place = np.unique(np.concatenate(keys), return_inverse=True)
        question_K, row_K = np.divmod(distinct_K, max(segment.vectors, 1))
        return cls(question_K, row_K, place[: len(hits.row_H)], place[len(hits.row_H) :])


def _scores(segment: Segment, queries: Queries, begins: _Boundaries, stops: _Boundaries) -> tuple[Floats, Floats]:
    """Of where phrases begin with the start vectors, and of where they end with the end vectors, in one go."""
    both_BD = np.concatenate([queries.start_BD, queries.end_BD])
    asked = np.concatenate([begins.question_K, stops.question_K + len(queries)])
    edges_B = np.searchsorted(asked, np.arange(len(both_BD) + 1))
    scores = segment.store.own_scores(both_BD, np.concatenate([begins.row_K, stops.row_K]), edges_B)
    return scores[: len(begins.row_K)], scores[len(begins.row_K) :]


def _ends_of(segment: Segment, starts: Hits) -> tuple[Ints, Ints]:
    return ranges(starts.row_H, segment.max_span(starts.row_H) + 1)


def _starts_of(part: Part, ends: Hits, starts: Hits) -> tuple[Ints, Ints]:
    """Without those among `starts`, of which all ends are known already."""
    segment = part.segment
    first_H = np.maximum(ends.row_H - part.longest_span, 0)
    owner_N, start_N = ranges(first_H, ends.row_H - first_H + 1)
    new_N = start_N + segment.max_span(start_N) >= ends.row_H[owner_N]
    owner_N, start_N = owner_N[new_N], start_N[new_N]
    known = _keys(segment, starts.question_H, starts.row_H)
    new_N = ~_contains(known, _keys(segment, ends.question_H[owner_N], start_N))
    return owner_N[new_N], start_N[new_N]


def _keys(segment: Segment, question_N: Ints, row_N: Ints) -> Ints:
    return question_N * segment.vectors + row_N


def _contains(ordered_H: Ints, keys_N: Ints) -> Mask:
    if len(ordered_H) == 0:
        return np.zeros(len(keys_N), dtype=bool)
    place_N = np.minimum(np.searchsorted(ordered_H, keys_N), len(ordered_H) - 1)
    return np.asarray(ordered_H[place_N] == keys_N)


def _least(scores_H: Floats, question_H: Ints, questions: int) -> Floats:
    least_B = np.full(questions, np.inf, dtype=np.float32)
    np.minimum.at(least_B, question_H, scores_H)
    return least_B
