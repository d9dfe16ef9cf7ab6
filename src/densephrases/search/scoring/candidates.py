"""The rows at which phrases are looked for: the best starts and the best ends of all segments together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.index.segment.reader import Segment
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Hits, Queries

OVERSAMPLE = 4  # candidates per candidate that is kept, if lexical overlap reorders them

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
    ) -> "Candidates":
        """The `count` rows with the highest scores, less the lexical penalties of their passages given `terms`."""
        both_BD = np.concatenate([queries.start_BD, queries.end_BD])
        oversample = 1 if terms is None else OVERSAMPLE
        found = [
            s.segment.candidates.search(both_BD, min(count, s.rows), s.allowed_R, effort, oversample) for s in segments
        ]
        rows_BK = np.concatenate([rows for _, rows in found], axis=1)
        scores_BK = np.where(rows_BK < 0, -np.inf, np.concatenate([scores for scores, _ in found], axis=1))
        if terms is not None:
            pairs = zip(segments, found, strict=True)
            penalties = [_lexical_penalties(each.segment, terms, rows) for each, (_, rows) in pairs]
            scores_BK = scores_BK - np.concatenate(penalties, axis=1)
        segment_K = np.repeat(np.arange(len(segments)), [rows.shape[1] for _, rows in found])
        chosen_BK = (rows_BK >= 0) & _among_best(scores_BK, count)
        starts, ends = (
            [_hits(rows_BK[half], chosen_BK[half] & (segment_K == number)) for number in range(len(segments))]
            for half in (slice(0, len(queries)), slice(len(queries), None))
        )
        full_B = chosen_BK.sum(axis=1) == count
        return cls(list(zip(starts, ends, strict=True)), ~(full_B[: len(queries)] & full_B[len(queries) :]))


def _lexical_penalties(segment: Segment, terms: QuestionTerms, rows_BK: Ints) -> Floats:
    """Of the passages of candidate rows: first the starts of all questions, then their ends."""
    question_BK = np.broadcast_to(np.arange(len(rows_BK))[:, None] % (len(rows_BK) // 2), rows_BK.shape)
    penalties_N = terms.penalties_of_rows(segment, question_BK.ravel(), np.maximum(rows_BK, 0).ravel())
    return penalties_N.reshape(rows_BK.shape)


def _among_best(scores_BK: Floats, count: int) -> Mask:
    """Marks `count` of the highest scores of each row."""
    marks_BK = np.ones(scores_BK.shape, dtype=bool)
    surplus = scores_BK.shape[1] - count
    if surplus > 0:
        worst = np.argpartition(scores_BK, surplus - 1, axis=1)[:, :surplus]
        np.put_along_axis(marks_BK, worst, False, axis=1)
    return marks_BK


def _hits(rows_BK: Ints, chosen_BK: Mask) -> Hits:
    question_H, column_H = np.nonzero(chosen_BK)
    row_H = rows_BK[question_H, column_H].astype(np.int64)
    order = np.lexsort((row_H, question_H))
    return Hits(question_H[order], row_H[order])
