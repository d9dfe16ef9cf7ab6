"""What a frozen index gives for question vectors: the best phrases of each question and which of them are right.

Shape suffixes: Q questions, K phrases of a question, D vector size.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Self

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.data.questions import OpenQuestion
from densephrases.index.folder import IndexFolder
from densephrases.quantize.codebooks import ProductQuantizer
from densephrases.search.filtering.filters import Filter
from densephrases.search.passages import SegmentTexts
from densephrases.search.scoring.lexical import QuestionTerms, TermWeights
from densephrases.search.scoring.pairs import PairSearch, Phrases
from densephrases.search.scoring.searchable import exact_candidates, searchable_segments
from densephrases.search.scoring.windows import Queries
from densephrases.search.selection.distinct_results import DistinctResults, penalizes_repetitions
from densephrases.train.queries.relevance import UNITS, Relevance
from densephrases.train.queries.target import Target

AT_ONCE = 32  # questions that are looked up together
_LEAST_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupSettings:
    """How phrases are sought.

    Attributes:
        target: What must be right, by which it is decided what counts as one result.
        effort: Given to the candidate index, as in search.
        length_penalty: The model's.
        lexical_weight: The model's.
        max_words: The model's longest phrase.
    """

    target: Target = "phrase"
    effort: float = 0.5
    length_penalty: float = 0.0
    lexical_weight: float = 0.0
    max_words: int = 20


@dataclass(frozen=True, slots=True)
class Found:
    """The best phrases of some questions, best first; where a question has fewer, the segment is -1."""

    segment_QK: Ints
    start_QK: Ints
    end_QK: Ints
    score_QK: Floats
    length_QK: Floats  # characters
    penalty_QK: Floats  # lexical, included in the score
    right_QK: Mask

    def __len__(self) -> int:
        return len(self.segment_QK)

    @classmethod
    def empty(cls, questions: int, k: int) -> Self:
        shape = (questions, k)
        return cls(
            np.full(shape, -1, dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
            np.full(shape, -np.inf, dtype=np.float32),
            np.zeros(shape, dtype=np.float32),
            np.zeros(shape, dtype=np.float32),
            np.zeros(shape, dtype=bool),
        )

    @classmethod
    def concatenate(cls, several: Sequence[Self]) -> Self:
        return cls(*(np.concatenate([getattr(found, f.name) for found in several]) for f in fields(cls)))

    def take(self, questions: Ints) -> Self:
        return type(self)(*(getattr(self, f.name)[questions] for f in fields(self)))

    @property
    def hit_Q(self) -> Mask:  # noqa: N802
        """Questions with something right among what was found."""
        return np.asarray(self.right_QK.any(axis=1))


class Lookup:
    """Looks up question vectors in an index as it was when the lookup was made."""

    def __init__(self, index: IndexFolder, settings: LookupSettings) -> None:
        self.settings = settings
        self.segments = searchable_segments(index.snapshot, Filter())
        self._term_weights = TermWeights.from_snapshot(index.snapshot)

    def __call__(self, queries: Queries, asked: Sequence[OpenQuestion], k: int) -> Found:
        """The k best results of each question."""
        found = [self._chunk(*chunk, k) for chunk in _chunks(queries, asked, AT_ONCE)]
        return Found.concatenate([*found, Found.empty(0, k)])

    def _chunk(self, queries: Queries, asked: Sequence[OpenQuestion], k: int) -> Found:
        texts = SegmentTexts(self.segments)
        found = Found.empty(len(queries), k)
        terms = self._terms(asked)
        for row, phrases in enumerate(self._search(texts, k)(replace(queries, terms=terms))):
            here = np.s_[row, : len(phrases)]
            located = texts.locate(phrases)
            spans = located.spans_N2
            found.segment_QK[here], found.start_QK[here], found.end_QK[here] = (
                phrases.segment_N,
                phrases.start_N,
                phrases.end_N,
            )
            found.score_QK[here], found.length_QK[here] = phrases.score_N, spans[:, 1] - spans[:, 0]
            found.right_QK[here] = self._right(phrases, spans, asked[row], texts)
            if terms is not None:
                asked_N = np.full(len(phrases), row)
                found.penalty_QK[here] = self._passage_penalties(terms, asked_N, phrases)
                if penalizes_repetitions(UNITS[self.settings.target]):
                    found.penalty_QK[here] += terms.repetition_penalties(asked_N, texts.spans_in_text(located))
        return found

    def _terms(self, asked: Sequence[OpenQuestion]) -> QuestionTerms | None:
        weight = self.settings.lexical_weight
        return (
            QuestionTerms.from_questions([question.text for question in asked], self._term_weights, weight)
            if weight
            else None
        )

    def _passage_penalties(self, terms: QuestionTerms, question_N: Ints, phrases: Phrases) -> Floats:
        penalty_N = np.zeros(len(phrases), dtype=np.float32)
        for number, each in enumerate(self.segments):
            here = np.flatnonzero(phrases.segment_N == number)
            penalty_N[here] = terms.penalties_of_rows(each.segment, question_N[here], phrases.start_N[here])
        return penalty_N

    def _search(self, texts: SegmentTexts, k: int) -> PairSearch:
        unit = UNITS[self.settings.target]
        available = {
            "passage": sum(s.passages for s in self.segments),
            "document": sum(s.documents for s in self.segments),
        }
        wanted = min(k, available.get(unit, k))
        return PairSearch(
            self.segments,
            wanted,
            DistinctResults(texts, unit, wanted),
            exact=exact_candidates(self.segments),
            effort=self.settings.effort,
            length_penalty=self.settings.length_penalty,
        )

    def _right(self, phrases: Phrases, spans_N2: Ints, asked: OpenQuestion, texts: SegmentTexts) -> list[bool]:
        is_right = Relevance(asked, self.settings.target, self.settings.max_words)
        passages = [texts.passage(key) for key in texts.passage_keys(phrases).tolist()]
        return [
            is_right(passage.text[start:end], passage.text, passage.document)
            for passage, (start, end) in zip(passages, spans_N2.tolist(), strict=True)
        ]

    def vectors(self, found: Found) -> tuple[Floats, Floats]:
        """The stored vectors (Q, K, D) of the phrases' first and last tokens, zero where there is no phrase."""
        starts, ends = (self._decoded(found.segment_QK, rows_QK) for rows_QK in (found.start_QK, found.end_QK))
        return starts, ends

    def _decoded(self, segment_QK: Ints, rows_QK: Ints) -> Floats:
        dim = self.segments[0].segment.store.dim if self.segments else 0
        vectors_QKD = np.zeros((*rows_QK.shape, dim), dtype=np.float32)
        for number, each in enumerate(self.segments):
            here_QK = segment_QK == number
            rows_N, place_N = np.unique(rows_QK[here_QK], return_inverse=True)  # in the order they lie in the file
            vectors_QKD[here_QK] = each.segment.store.decode(rows_N)[place_N]
        return vectors_QKD


Finder = Callable[[Queries, Sequence[OpenQuestion], int], Found]


@contextmanager
def spread_lookup(index: IndexFolder, settings: LookupSettings, processes: int) -> Iterator[Finder]:
    """The same as a `Lookup`, by several processes where more than one is asked for.

    Finding candidates uses all cores in one process too; what comes after it, from reading windows to comparing
    texts, does not.
    """
    if processes < 2:
        yield Lookup(index, settings)
        return
    opening = (index.folder, index.product_quantizer, settings)
    with (
        _single_threaded_children(),
        ProcessPoolExecutor(processes, get_context("spawn"), _open, opening) as pool,
    ):

        def look_up(queries: Queries, asked: Sequence[OpenQuestion], k: int) -> Found:
            size = min(max(len(asked) // (4 * processes), _LEAST_AT_ONCE), AT_ONCE)  # none waits long for the last
            chunks = _chunks(queries, asked, size)
            jobs = [pool.submit(_look_up, *chunk, k) for chunk in chunks]
            return Found.concatenate([*(job.result() for job in jobs), Found.empty(0, k)])

        yield look_up


def default_processes() -> int:
    """One for each core of a larger machine; on a small one a second process would only take memory."""
    cores = os.cpu_count() or 1
    return cores if cores > 4 else 1


def _chunks(
    queries: Queries, asked: Sequence[OpenQuestion], size: int
) -> Iterator[tuple[Queries, Sequence[OpenQuestion]]]:
    for first in range(0, len(asked), size):
        rows = np.arange(first, min(first + size, len(asked)))
        yield queries.take(rows), asked[first : first + size]


@contextmanager
def _single_threaded_children() -> Iterator[None]:
    """The other cores have processes of their own; these variables are read when a process begins."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_of_this_process: list[Lookup] = []


def _open(folder: Path, pq: ProductQuantizer | None, settings: LookupSettings) -> None:
    _of_this_process[:] = [Lookup(IndexFolder.open(folder, pq), settings)]


def _look_up(queries: Queries, asked: Sequence[OpenQuestion], k: int) -> Found:
    return _of_this_process[0](queries, asked, k)
