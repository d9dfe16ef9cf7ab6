"""The rows from which phrases are sought: the best starts and the best ends of all parts together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.search.collection import Floats, Mask, Part, Rows
from densephrases.search.windows import Hits, Queries

# A scan scores this many rows at a time: 12 MB of stored vectors at 384 dimensions as numbers of 8 bits.
SCANNED_ROWS = 1 << 15

# Shape suffixes: B questions, D vector size, K candidates of a question, N rows.


@dataclass(frozen=True, slots=True)
class Source:
    """How candidate rows are found.

    Attributes:
        effort: Given to the candidate index.
        scan: Score every allowed row from the store instead.
        scan_inexact: The same for those parts only whose candidate index is not exact.
    """

    effort: float
    scan: bool = False
    scan_inexact: bool = False

    def next(self) -> "Source":
        """What to try when the candidate index lists fewer rows than there are."""
        return Source(1.0, scan=self.effort == 1.0, scan_inexact=self.scan_inexact)

    def search(self, part: Part, queries_BD: Floats, count: int) -> tuple[Floats, Rows]:
        if self.scan or (self.scan_inexact and not part.segment.candidates.exact):
            return scan(part, queries_BD, count)
        return part.segment.candidates.search(queries_BD, count, part.allowed_R, self.effort)


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
    def best(cls, parts: Sequence[Part], queries: Queries, count: int, source: Source) -> "Nominees":
        both_BD = np.concatenate([queries.start_BD, queries.end_BD])
        found = [source.search(part, both_BD, min(count, part.rows)) for part in parts]
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


def scan(part: Part, queries_BD: Floats, count: int) -> tuple[Floats, Rows]:
    """The best rows by their stored vectors."""
    rows_N = part.listed_rows()
    blocks = np.array_split(rows_N, max(1, len(rows_N) // SCANNED_ROWS))
    scores, rows = [], []
    for query_D in queries_BD:
        scores_N = np.concatenate([part.segment.store.scores(block, query_D) for block in blocks])
        best_K = np.flatnonzero(_among_best(scores_N[None], count)[0])
        best_K = best_K[np.argsort(-scores_N[best_K], kind="stable")]
        scores.append(scores_N[best_K])
        rows.append(rows_N[best_K])
    return np.stack(scores), np.stack(rows)


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
