"""The rows from which phrases are sought: the best starts and the best ends of all parts together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.search.scoring.searchable import Part, Segment
from densephrases.search.scoring.windows import Hits, Queries

OVERSAMPLE = 4  # times as many rows are looked at where words decide which of them are taken

# Shape suffixes: B questions, D vector size, K candidates of a question, N rows.


@dataclass(frozen=True, slots=True)
class Candidates:
    """For each part its candidate starts and ends, and which questions have fewer than they asked for."""

    hits: Sequence[tuple[Hits, Hits]]
    short_B: Mask

    @classmethod
    def everything(cls, parts: Sequence[Part], questions: int) -> "Candidates":
        hits = [(Hits.everything(questions, part.listed_rows()), Hits.none()) for part in parts]
        return cls(hits, np.zeros(questions, dtype=bool))

    @classmethod
    def best(
        cls, parts: Sequence[Part], queries: Queries, count: int, effort: float, words: QuestionTerms | None = None
    ) -> "Candidates":
        """The `count` rows of the highest scores; with `words`, less what these cost the rows' passages."""
        both_BD = np.concatenate([queries.start_BD, queries.end_BD])
        oversample = 1 if words is None else OVERSAMPLE
        found = [
            p.segment.candidates.search(both_BD, min(count, p.rows), p.allowed_R, effort, oversample) for p in parts
        ]
        rows_BK = np.concatenate([rows for _, rows in found], axis=1)
        scores_BK = np.where(rows_BK < 0, -np.inf, np.concatenate([scores for scores, _ in found], axis=1))
        if words is not None:
            penalties = [_lexical_penalties(p.segment, words, rows) for p, (_, rows) in zip(parts, found, strict=True)]
            scores_BK = scores_BK - np.concatenate(penalties, axis=1)
        part_K = np.repeat(np.arange(len(parts)), [rows.shape[1] for _, rows in found])
        chosen_BK = (rows_BK >= 0) & _among_best(scores_BK, count)
        starts, ends = (
            [_hits(rows_BK[half], chosen_BK[half] & (part_K == number)) for number in range(len(parts))]
            for half in (slice(0, len(queries)), slice(len(queries), None))
        )
        full_B = chosen_BK.sum(axis=1) == count
        return cls(list(zip(starts, ends, strict=True)), ~(full_B[: len(queries)] & full_B[len(queries) :]))


def _lexical_penalties(segment: Segment, words: QuestionTerms, rows_BK: Ints) -> Floats:
    """Of rows that are given for the starts of all questions and then for their ends."""
    question_BK = np.broadcast_to(np.arange(len(rows_BK))[:, None] % (len(rows_BK) // 2), rows_BK.shape)
    penalties_N = words.penalties_of_rows(segment, question_BK.ravel(), np.maximum(rows_BK, 0).ravel())
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
