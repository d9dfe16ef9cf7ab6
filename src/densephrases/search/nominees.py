"""The rows from which phrases are sought: the best starts and the best ends of all parts together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.search.collection import Floats, Mask, Part, Rows
from densephrases.search.windows import Hits, Queries

# Shape suffixes: B questions, D vector size, K candidates of a question, N rows.


@dataclass(frozen=True, slots=True)
class Nominees:
    """For each part its candidate starts and ends, and which questions have fewer than they asked for."""

    hits: Sequence[tuple[Hits, Hits]]
    short_B: Mask

    @classmethod
    def everything(cls, parts: Sequence[Part], questions: int) -> "Nominees":
        hits = [(Hits.everything(questions, part.listed_rows()), Hits.none()) for part in parts]
        return cls(hits, np.zeros(questions, dtype=bool))

    @classmethod
    def best(cls, parts: Sequence[Part], queries: Queries, count: int, effort: float) -> "Nominees":
        both_BD = np.concatenate([queries.start_BD, queries.end_BD])
        found = [p.segment.candidates.search(both_BD, min(count, p.rows), p.allowed_R, effort) for p in parts]
        rows_BK = np.concatenate([rows for _, rows in found], axis=1)
        scores_BK = np.where(rows_BK < 0, -np.inf, np.concatenate([scores for scores, _ in found], axis=1))
        part_K = np.repeat(np.arange(len(parts)), [rows.shape[1] for _, rows in found])
        chosen_BK = (rows_BK >= 0) & _among_best(scores_BK, count)
        starts, ends = (
            [_hits(rows_BK[half], chosen_BK[half] & (part_K == number)) for number in range(len(parts))]
            for half in (slice(0, len(queries)), slice(len(queries), None))
        )
        full_B = chosen_BK.sum(axis=1) == count
        return cls(list(zip(starts, ends, strict=True)), ~(full_B[: len(queries)] & full_B[len(queries) :]))


def _among_best(scores_BK: Floats, count: int) -> Mask:
    """Marks `count` of the highest scores of each row."""
    marks_BK = np.ones(scores_BK.shape, dtype=bool)
    surplus = scores_BK.shape[1] - count
    if surplus > 0:
        worst = np.argpartition(scores_BK, surplus - 1, axis=1)[:, :surplus]
        np.put_along_axis(marks_BK, worst, False, axis=1)
    return marks_BK


def _hits(rows_BK: Rows, chosen_BK: Mask) -> Hits:
    question_H, column_H = np.nonzero(chosen_BK)
    row_H = rows_BK[question_H, column_H].astype(np.int64)
    order = np.lexsort((row_H, question_H))
    return Hits(question_H[order], row_H[order])
