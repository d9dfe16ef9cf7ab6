"""The rows at which phrases are looked for: the best starts and the best ends of all segments together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.index.cancellation import Check, go_on
from densephrases.index.segment.reader import Segment
from densephrases.search.scoring.identified import IdentifiedPassages
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Hits, Queries

OVERSAMPLE = 4  # candidates per candidate that is kept, if lexical overlap reorders them
_ROW_BITS = 40

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
        both_BD = np.concatenate([queries.start_BD, queries.end_BD])
        oversample = 1 if terms is None else OVERSAMPLE
        found = [
            s.segment.candidates.search(both_BD, min(count, s.rows), s.allowed_R, effort, oversample, check)
            for s in segments
        ]
        rows_BK = np.concatenate([rows for _, rows in found], axis=1)
        scores_BK = np.where(rows_BK < 0, -np.inf, np.concatenate([scores for scores, _ in found], axis=1))
        segment_K = np.repeat(np.arange(len(segments)), [rows.shape[1] for _, rows in found])
        order_BK = (segment_K << _ROW_BITS) + rows_BK
        chosen_BK = (rows_BK >= 0) & among_best(scores_BK, order_BK, oversample * count)
        if terms is not None:
            pairs = zip(segments, found, strict=True)
            penalties = [_lexical_penalties(each.segment, terms, rows) for each, (_, rows) in pairs]
            scores_BK = np.where(chosen_BK, scores_BK - np.concatenate(penalties, axis=1), -np.inf)
            chosen_BK &= among_best(scores_BK, order_BK, count)
        starts, ends = (
            [_hits(rows_BK[half], chosen_BK[half] & (segment_K == number)) for number in range(len(segments))]
            for half in (slice(0, len(queries)), slice(len(queries), None))
        )
        full_B = chosen_BK.sum(axis=1) == count
        if terms is not None and terms.identified is not None:
            listed = zip(starts, segments, strict=True)
            starts = [_with_identified(hits, each, terms.identified, len(queries)) for hits, each in listed]
        return cls(list(zip(starts, ends, strict=True)), ~(full_B[: len(queries)] & full_B[len(queries) :]))


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
