"""The first distinct phrases of passages in memory, and their final ranking, as of an index."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints
from densephrases.index.segment.passage_terms import SegmentTerms
from densephrases.search.ranking.contenders import CONTENDERS, Contenders
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.scoring.in_passage import Span
from densephrases.search.scoring.lexical import QuestionTerms
from densephrases.text.normalize import normalize_answer
from densephrases.text.passages import Passage
from densephrases.text.searched_text import SearchedText
from densephrases.text.words import is_phrase

# Shape suffixes: B questions, N phrases of all questions, T tokens of a passage.


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A phrase by its passage's number and its character offsets."""

    passage: int
    start: int
    end: int
    score: float


def distinct_spans(passage: int, text: str, offsets_T2: NDArray[Any], spans: Iterable[Span]) -> Iterator[FoundSpan]:
    """Of spans of a passage, best first: those of whole words, each normalised text once, and at most `CONTENDERS`."""
    seen: set[str] = set()
    for span in spans:
        start, end = int(offsets_T2[span.start, 0]), int(offsets_T2[span.end, 1])
        normalized = normalize_answer(text[start:end])
        if normalized not in seen and is_phrase(text, start, end):
            seen.add(normalized)
            yield FoundSpan(passage, start, end, span.score)
            if len(seen) == CONTENDERS:
                return


@dataclass(frozen=True, slots=True)
class SpanRanking:
    """Ranks the first phrases of questions again; without lexical overlap there are no terms."""

    ranking: PhraseRanking
    passages: Sequence[Passage]
    terms: QuestionTerms | None
    passage_terms: SegmentTerms | None
    _texts: dict[int, SearchedText] = field(default_factory=dict)

    def best(self, rows: Sequence[int], found: Sequence[Sequence[FoundSpan]]) -> Iterator[FoundSpan | None]:
        """The best phrase of each question, given by the row of its terms, with its final score."""
        terms = None if self.terms is None else self.terms.take(np.array(rows, dtype=np.int64))
        contenders = self._contenders(found, terms)
        scores_N = self.ranking.scores(contenders, terms) if len(contenders) else contenders.score_N
        for spans, score_N in zip(found, np.split(scores_N, contenders.edges_B[1:-1]), strict=True):
            if not spans:
                yield None
                continue
            best = int(score_N.argmax())
            yield FoundSpan(spans[best].passage, spans[best].start, spans[best].end, float(score_N[best]))

    def _contenders(self, found: Sequence[Sequence[FoundSpan]], terms: QuestionTerms | None) -> Contenders:
        flat = [span for spans in found for span in spans]
        passage_N = np.array([span.passage for span in flat], dtype=np.int64)
        spans_N2 = np.array([(span.start, span.end) for span in flat], dtype=np.int64).reshape(-1, 2)
        edges_B = np.cumsum([0, *map(len, found)])
        question_N = np.repeat(np.arange(len(found)), np.diff(edges_B))
        texts = [self._searched(span.passage) for span in flat]
        return Contenders(
            edges_B,
            np.array([span.score for span in flat], dtype=np.float32),
            self._lexical(question_N, passage_N, terms),
            passage_N,
            spans_N2,
            texts,
            [SearchedText(self.passages[span.passage].title) for span in flat],
        )

    def _lexical(self, question_N: Ints, passage_N: Ints, terms: QuestionTerms | None) -> Floats:
        if terms is None or self.passage_terms is None:
            return np.zeros(len(passage_N), dtype=np.float32)
        return terms.penalties(self.passage_terms, question_N, passage_N)

    def _searched(self, number: int) -> SearchedText:
        if number not in self._texts:
            self._texts[number] = SearchedText(self.passages[number].text)
        return self._texts[number]
