"""The rows at which phrases are looked for: the best starts and the best ends of all segments together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.cores import side_by_side
from densephrases.index.cancellation import Check, go_on
from densephrases.index.candidates.across_segments import search_across
from densephrases.index.candidates.clusters import ClusterCandidates
from densephrases.index.segment.reader import Segment
from densephrases.search.scoring.identified import IdentifiedPassages
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Hits, Queries

OVERSAMPLE = 4  # candidates per candidate that is kept, if lexical overlap reorders them
_ROW_BITS = 40
_SIDE_BY_SIDE_ROWS = 1_000_000  # fewer are searched in a few milliseconds

# Shape suffixes: B questions, D vector size, K candidates of a question, N rows.


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidate starts and ends of each segment; `short_B` marks questions with fewer than were asked for."""

    hits: Sequence[tuple[Hits, Hits]]
    short_B: Mask

    @classmethod
    def everything(cls, segments: Sequence[SearchableSegment], questions: int) -> "Candidates":
        hits = [(Hits.everything(questions, each.listed_rows()), Hits.none()) for each in segments]
        return cls(hits, np.zeros(questions, dtype=bool))

    @classmethod
    def best(
        cls,
        segments: Sequence[SearchableSegment],
        queries: Queries,
        count: int,
        effort: float,
        terms: QuestionTerms | None = None,
        check: Check = go_on,
    ) -> "Candidates":
        """The `count` rows with the highest scores, less the lexical penalties of their passages given `terms`.

        Penalties reorder as many rows as if all segments were one.
        """
        proposals = Proposals.from_segments(segments, queries, count, effort, terms, check)
        return cls.chosen(proposals, segments, count, terms)

    @classmethod
    def chosen(
        cls,
        proposals: "Proposals",
        segments: Sequence[SearchableSegment],
        count: int,
        terms: QuestionTerms | None = None,
    ) -> "Candidates":
        """The `count` best proposals of each question, and rows of passages that have its identifiers."""
        chosen_BK = proposals.best(count)
        starts, ends = proposals.hits(chosen_BK, len(segments))
        return cls.from_hits(starts, ends, segments, terms, proposals.short(chosen_BK, count))

    @classmethod
    def from_hits(
        cls,
        starts: Sequence[Hits],
        ends: Sequence[Hits],
        segments: Sequence[SearchableSegment],
        terms: QuestionTerms | None,
        short_B: Mask,
    ) -> "Candidates":
        """Rows of each segment that are chosen already, and rows of passages that have identifiers of a question."""
        if terms is not None and terms.identified is not None:
            listed = zip(starts, segments, strict=True)
            starts = [_with_identified(hits, each, terms.identified, len(short_B)) for hits, each in listed]
        return cls(list(zip(starts, ends, strict=True)), short_B)


@dataclass(frozen=True, slots=True)
class Proposals:
    """The rows that the segments propose: first the starts of all questions, then their ends.

    Attributes:
        rows_BK: -1 where a segment has fewer rows.
        scores_BK: -inf there.
        segment_K: The number of the segment of each column.
        penalties_BK: Lexical penalties of the rows' passages; None if they do not count.
    """

    rows_BK: Ints
    scores_BK: Floats
    segment_K: Ints
    penalties_BK: Floats | None

    @classmethod
    def from_segments(
        cls,
        segments: Sequence[SearchableSegment],
        queries: Queries,
        count: int,
        effort: float,
        terms: QuestionTerms | None = None,
        check: Check = go_on,
    ) -> "Proposals":
        both_BD = np.concatenate([queries.start_BD, queries.end_BD])
        found = _searched(segments, both_BD, count, effort, 1 if terms is None else OVERSAMPLE, check)
        empty = len(both_BD), 0
        rows_BK = np.concatenate([np.zeros(empty, np.int64), *(rows for _, rows in found)], axis=1)
        scores_BK = np.concatenate([np.zeros(empty, np.float32), *(scores for scores, _ in found)], axis=1)
        segment_K = np.repeat(np.arange(len(segments)), [rows.shape[1] for _, rows in found])
        penalties_BK = None
        if terms is not None:
            pairs = zip(segments, found, strict=True)
            penalties = [_lexical_penalties(each.segment, terms, rows) for each, (_, rows) in pairs]
            penalties_BK = np.concatenate([np.zeros(empty, np.float32), *penalties], axis=1)
        return cls(rows_BK, np.where(rows_BK < 0, -np.inf, scores_BK), segment_K, penalties_BK)

    @classmethod
    def joined(cls, several: Sequence["Proposals"]) -> "Proposals":
        """Of different segments, in the order of these."""
        penalties = [each.penalties_BK for each in several if each.penalties_BK is not None]
        return cls(
            np.concatenate([each.rows_BK for each in several], axis=1),
            np.concatenate([each.scores_BK for each in several], axis=1),
            np.concatenate([each.segment_K for each in several]),
            np.concatenate(penalties, axis=1) if penalties else None,
        )

    def take(self, both: Ints) -> "Proposals":
        """Of some questions, given by their rows among the starts and among the ends."""
        penalties_BK = None if self.penalties_BK is None else self.penalties_BK[both]
        return Proposals(self.rows_BK[both], self.scores_BK[both], self.segment_K, penalties_BK)

    @property
    def questions(self) -> int:
        return len(self.rows_BK) // 2

    def best(self, count: int) -> Mask:
        """Marks the `count` best: first by vectors alone, several times as many; then with penalties."""
        order_BK = row_keys(self.segment_K, self.rows_BK)
        oversample = 1 if self.penalties_BK is None else OVERSAMPLE
        chosen_BK = (self.rows_BK >= 0) & among_best(self.scores_BK, order_BK, oversample * count)
        if self.penalties_BK is None:
            return chosen_BK
        scores_BK = np.where(chosen_BK, self.scores_BK - self.penalties_BK, -np.inf)
        return np.asarray(chosen_BK & among_best(scores_BK, order_BK, count))

    def hits(self, chosen_BK: Mask, segments: int) -> tuple[list[Hits], list[Hits]]:
        """The starts and the ends of each segment that are chosen."""
        starts, ends = (
            [_hits(self.rows_BK[half], chosen_BK[half] & (self.segment_K == number)) for number in range(segments)]
            for half in (slice(0, self.questions), slice(self.questions, None))
        )
        return starts, ends

    def short(self, chosen_BK: Mask, count: int) -> Mask:
        """Marks the questions with fewer than `count` candidates."""
        full_B = chosen_BK.sum(axis=1) == count
        return np.asarray(~(full_B[: self.questions] & full_B[self.questions :]))


def _searched(
    segments: Sequence[SearchableSegment],
    queries_BD: Floats,
    count: int,
    effort: float,
    oversample: int,
    check: Check,
) -> list[tuple[Floats, Ints]]:
    """Scores and rows that each segment proposes. Segments with clusters are searched as one."""

    def propose(each: SearchableSegment) -> tuple[Floats, Ints]:
        found = each.segment.candidates
        return found.search(queries_BD, min(count, each.rows), each.allowed_R, effort, oversample, check)

    clustered = _clustered(segments) if effort < 1 else {}
    others = [number for number in range(len(segments)) if number not in clustered]
    many = sum(segments[number].rows for number in others) >= _SIDE_BY_SIDE_ROWS
    proposed = (side_by_side if many else map)(propose, [segments[number] for number in others])
    found = dict(zip(others, proposed, strict=True))
    if clustered:
        together = search_across(list(clustered.values()), queries_BD, count, effort, oversample, check)
        found |= dict(zip(clustered, together, strict=True))
    return [found[number] for number in range(len(segments))]


def _clustered(segments: Sequence[SearchableSegment]) -> dict[int, ClusterCandidates]:
    """Of segments with clusters that are searched whole, by their numbers, if there are several."""
    numbers = [n for n, each in enumerate(segments) if each.allowed_R is None and each.segment.has_clusters]
    if len(numbers) < 2:
        return {}
    opened = side_by_side(lambda number: segments[number].segment.candidates, numbers)
    return {n: each for n, each in zip(numbers, opened, strict=True) if isinstance(each, ClusterCandidates)}


def row_keys(segment_N: Ints, row_N: Ints) -> Ints:
    """One number for a segment and a row of it."""
    return (segment_N << _ROW_BITS) + row_N


def _lexical_penalties(segment: Segment, terms: QuestionTerms, rows_BK: Ints) -> Floats:
    """Of the passages of candidate rows: first the starts of all questions, then their ends."""
    question_BK = np.broadcast_to(np.arange(len(rows_BK))[:, None] % (len(rows_BK) // 2), rows_BK.shape)
    penalties_N = terms.penalties_of_rows(segment, question_BK.ravel(), np.maximum(rows_BK, 0).ravel())
    return penalties_N.reshape(rows_BK.shape)


def _with_identified(hits: Hits, each: SearchableSegment, found: IdentifiedPassages, questions: int) -> Hits:
    rows = [found.rows(question, each.segment) for question in range(questions)]
    return hits.with_rows([row_N if each.allowed_R is None else row_N[each.allowed_R[row_N]] for row_N in rows])


def among_best(scores_BK: Floats, order_BK: Ints, count: int) -> Mask:
    """Marks the `count` highest scores of each question; of equal ones those that come first in order."""
    if count >= scores_BK.shape[1]:
        return np.ones(scores_BK.shape, dtype=bool)
    least_B1 = np.partition(scores_BK, -count, axis=1)[:, -count, None]
    marks_BK = scores_BK >= least_B1
    for question in np.flatnonzero(np.count_nonzero(marks_BK, axis=1) > count).tolist():
        (tied,) = np.nonzero(scores_BK[question] == least_B1[question])
        surplus = np.count_nonzero(marks_BK[question]) - count
        marks_BK[question, tied[np.argsort(order_BK[question, tied])[-surplus:]]] = False
    return np.asarray(marks_BK)


def _hits(rows_BK: Ints, chosen_BK: Mask) -> Hits:
    question_H, column_H = np.nonzero(chosen_BK)
    row_H = rows_BK[question_H, column_H].astype(np.int64)
    order = np.lexsort((row_H, question_H))
    return Hits(question_H[order], row_H[order])
