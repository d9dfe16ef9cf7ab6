"""Collections in memory, made by chance, and the exhaustive search that they are compared with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints, Mask
from densephrases.index.cancellation import Check, go_on
from densephrases.index.segment.reader import Segment
from densephrases.index.snapshot import Snapshot
from densephrases.search.request import Unit
from densephrases.search.scoring.lexical import REPETITION_SHARE
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.text.documents import Document
from densephrases.text.hashed_terms import TERMS, terms
from densephrases.text.normalize import normalize_answer
from densephrases.text.words import is_inside_word
from tests.text.sentence_oracle import sentences_around

WORDS = ["The", "the", "a", "Ada", "ada.", "wrote", "Wrote!", "code.", "It", "ran?", "ß", "中文。", "1843", "(x)"]
SIZE = 3

Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class MemoryStore:
    vectors_RD: Floats

    def own_scores(self, queries_BD: Floats, rows_N: Ints, edges_B: Ints, check: Check = go_on) -> Floats:
        queries_ND = np.repeat(queries_BD, np.diff(edges_B), axis=0)
        return np.asarray((queries_ND * self.vectors_RD[rows_N]).sum(axis=1))


@dataclass(frozen=True)
class MemoryCandidates:
    """Hides some rows unless the effort is 1, as an approximate index would, and so lists too few."""

    vectors_RD: Floats
    hidden_R: Mask | None = None

    @property
    def exact(self) -> bool:
        return self.hidden_R is None

    def search(
        self,
        queries_BD: Floats,
        k: int,
        allowed: Mask | None,
        effort: float,
        oversample: int,
        check: Check = go_on,
    ) -> tuple[Floats, Ints]:
        scores_BR = queries_BD @ self.vectors_RD.T
        for mask in (allowed, None if self.hidden_R is None or effort == 1 else ~self.hidden_R):
            scores_BR = scores_BR if mask is None else np.where(mask, scores_BR, -np.inf)
        rows_BK = np.argsort(-scores_BR, axis=1, kind="stable")[:, : oversample * k]
        scores_BK = np.take_along_axis(scores_BR, rows_BK, axis=1)
        return scores_BK, np.where(scores_BK == -np.inf, -1, rows_BK)


@dataclass(frozen=True)
class MemoryTerms:
    """Sets that are looked through one by one."""

    of_passages: Sequence[set[int]]

    @property
    def passages(self) -> int:
        return len(self.of_passages)

    @property
    def passages_V(self) -> Ints:  # noqa: N802
        return self.passages_having(np.arange(self.passages))

    def passages_with(self, terms: Sequence[int]) -> Ints:
        return np.array([n for n, each in enumerate(self.of_passages) if each >= set(terms)], dtype=np.int64)

    def passages_having(self, passages_N: Ints) -> Ints:
        found = [term for passage in passages_N.tolist() for term in self.of_passages[passage]]
        return np.bincount(np.array(found, dtype=np.int64), minlength=TERMS)

    def contain(self, passages_N: Ints, terms_N: Integers) -> Mask:
        pairs = zip(passages_N.tolist(), terms_N.tolist(), strict=True)
        return np.array([term in self.of_passages[passage] for passage, term in pairs], dtype=bool)


@dataclass(frozen=True)
class MemorySegment:
    texts: Sequence[Document]
    passages: Sequence[str]
    begins_R: Integers
    lengths_R: Integers
    max_span_R: Integers
    vector_edges: Integers
    passage_documents: Integers
    passage_offsets: Integers
    store: MemoryStore
    candidates: MemoryCandidates
    metadata_index: None = None
    has_clusters: bool = False

    @property
    def vectors(self) -> int:
        return len(self.begins_R)

    @property
    def documents(self) -> int:
        return len(self.texts)

    @property
    def passage_bytes(self) -> Ints:
        return 1000 * np.arange(len(self.passages))

    @cached_property
    def terms(self) -> MemoryTerms:
        titles = [self.texts[document].title for document in self.passage_documents]
        return MemoryTerms([terms(f"{title}\n{text}") for title, text in zip(titles, self.passages, strict=True)])

    def token_offsets(self, rows_N: Ints) -> Ints:
        passages_N = np.searchsorted(self.vector_edges, rows_N, side="right") - 1
        return self.passage_bytes[passages_N] + self.begins_R[rows_N]

    def lengths(self, rows_N: Ints) -> Ints:
        return self.lengths_R[rows_N].astype(np.int64)

    def max_span(self, rows_N: Ints) -> Ints:
        return self.max_span_R[rows_N].astype(np.int64)

    @property
    def longest_span(self) -> int:
        return int(self.max_span_R.max(initial=0))

    def passage_text(self, passage: int) -> str:
        return self.passages[passage]

    def record(self, document: int) -> Document:
        return self.texts[document]

    def find_hashed(self, identifiers: Sequence[str], hashes: NDArray[np.uint64]) -> dict[int, int]:
        numbers = {document.id: number for number, document in enumerate(self.texts)}
        return {place: numbers[name] for place, name in enumerate(identifiers) if name in numbers}


class MemoryIndex(Snapshot):
    """Segments that a search takes for those of a folder."""

    def __init__(self, segments: Sequence[MemorySegment], deleted: Sequence[Mask | None]) -> None:
        self.made = segments
        self.segments = [as_segment(segment) for segment in segments]
        self.deleted = list(deleted)

    def searchable(self) -> list[SearchableSegment]:
        pairs = zip(self.segments, self.deleted, strict=True)
        found = [SearchableSegment.with_documents(each, None if gone is None else ~gone) for each, gone in pairs]
        return [each for each in found if each.rows]


def as_segment(made: MemorySegment) -> Segment:
    """It has what a search uses of a segment."""
    return cast("Segment", made)


@dataclass
class SegmentMaker:
    random: np.random.Generator
    hide: bool = False
    keep: float = 0.8  # of the words
    texts: list[Document] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)
    tokens: list[tuple[int, int, int]] = field(default_factory=list)
    vector_edges: list[int] = field(default_factory=lambda: [0])
    passage_document: list[int] = field(default_factory=list)
    passage_begin: list[int] = field(default_factory=list)

    def add(self, name: str, passage_words: Sequence[Sequence[str]], metadata: dict[str, Any]) -> None:
        text = self.random.choice(["", "  ", "\r\n"])
        for words in passage_words:
            self.passage_document.append(len(self.texts))
            self.passage_begin.append(len(text))
            passage = " ".join(words)
            self._add_tokens(words)
            self.passages.append(passage)
            text += passage + self.random.choice(["\n\n", "\r\n\t\r\n"])
        self.texts.append(Document(name, text, f"title of {name}", metadata))

    def _add_tokens(self, words: Sequence[str]) -> None:
        begins = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
        kept = [i for i in range(len(words)) if self.random.random() < self.keep]
        for place, word in enumerate(kept):
            max_span = int(self.random.integers(0, min(len(kept) - place, 6)))
            self.tokens.append((begins[word], len(words[word]), max_span))
        self.vector_edges.append(len(self.tokens))

    def made(self) -> MemorySegment:
        begins, lengths, max_span = np.array(self.tokens, dtype=np.int64).reshape(-1, 3).T
        vectors_RD = self.random.integers(-3, 4, size=(len(self.tokens), SIZE)).astype(np.float32)
        hidden = self.random.random(len(self.tokens)) < 0.7 if self.hide else None
        return MemorySegment(
            self.texts,
            self.passages,
            begins.astype(np.uint16),
            lengths.astype(np.uint16),
            max_span.astype(np.uint8),
            np.array(self.vector_edges),
            np.array(self.passage_document, dtype=np.uint32),
            np.array(self.passage_begin, dtype=np.uint32),
            MemoryStore(vectors_RD),
            MemoryCandidates(vectors_RD, hidden),
        )


@st.composite
def indexes(draw: st.DrawFn, hide: bool = False) -> MemoryIndex:
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    segments: list[MemorySegment] = []
    for number in range(draw(st.integers(0, 3))):
        maker = SegmentMaker(random, hide)
        for document in range(draw(st.integers(1, 4))):
            words = [
                random.choice(WORDS, size=draw(st.integers(0, 9))).tolist() for _ in range(draw(st.integers(0, 3)))
            ]
            metadata = {"lang": str(random.choice(["en", "de"])), "year": int(random.integers(1, 3))}
            maker.add(f"{number}-{document}", words, metadata)
        segments.append(maker.made())
    some = [random.random(segment.documents) < 0.3 for segment in segments]
    return MemoryIndex(segments, [mask if draw(st.booleans()) else None for mask in some])


@dataclass(frozen=True)
class BruteSpan:
    """A phrase with its place, found by trying all."""

    score: float
    segment: int
    start: int
    end: int

    @property
    def order(self) -> tuple[float, int, int, int]:
        return -self.score, self.segment, self.start, self.end


@dataclass(frozen=True)
class BruteForce:
    """The exhaustive search: every span of every segment, sorted, and the rules of distinct results one by one."""

    segments: Sequence[SearchableSegment]
    start_D: Floats
    end_D: Floats
    length_penalty: float
    penalties: Mapping[int, float] = field(default_factory=dict)  # of the question's terms, where they are lacking
    repeated: float = REPETITION_SHARE  # as a share of that, for a phrase with the term

    def ranked(self) -> list[BruteSpan]:
        return sorted(
            (span for number in range(len(self.segments)) for span in self._spans(number)), key=lambda s: s.order
        )

    def _spans(self, number: int) -> Iterator[BruteSpan]:
        segment: Any = self.segments[number].segment
        for start in self.segments[number].listed_rows().tolist():
            for end in range(start, start + int(segment.max_span_R[start]) + 1):
                score = float(
                    segment.store.vectors_RD[start] @ self.start_D + segment.store.vectors_RD[end] @ self.end_D
                )
                length = self._stop(number, end) - int(segment.begins_R[start])
                cost = self.word_cost(number, start) + self.phrase_cost(number, start, end) if self.penalties else 0.0
                yield BruteSpan(score - self.length_penalty * length - cost, number, start, end)

    def word_cost(self, number: int, row: int) -> float:
        segment: Any = self.segments[number].segment
        passage = self.passage(BruteSpan(0, number, row, row))
        return sum(cost for term, cost in self.penalties.items() if term not in segment.terms.of_passages[passage])

    def phrase_cost(self, number: int, start: int, end: int) -> float:
        """For the words that the phrase repeats."""
        text, first, last = self.text(BruteSpan(0, number, start, end))
        return self.repeated * sum(cost for term, cost in self.penalties.items() if term in terms(text[first:last]))

    def _stop(self, number: int, row: int) -> int:
        segment: Any = self.segments[number].segment
        return int(segment.begins_R[row]) + int(segment.lengths_R[row])

    def passage(self, span: BruteSpan) -> int:
        edges = self.segments[span.segment].segment.vector_edges.tolist()
        return next(p for p in range(len(edges) - 1) if edges[p] <= span.start < edges[p + 1])

    def text(self, span: BruteSpan) -> tuple[str, int, int]:
        segment: Any = self.segments[span.segment].segment
        return (
            segment.passage_text(self.passage(span)),
            int(segment.begins_R[span.start]),
            self._stop(span.segment, span.end),
        )

    def key(self, span: BruteSpan, unit: Unit) -> tuple[Any, ...]:
        passage, (text, start, end) = self.passage(span), self.text(span)
        if unit == "document":
            return span.segment, int(self.segments[span.segment].segment.passage_documents[passage])
        around = sentences_around(text, start, end)
        keys = {"phrase": normalize_answer(text[start:end]), "sentence": (around.start, around.end), "passage": None}
        return span.segment, passage, keys[unit]

    def _is_phrase(self, span: BruteSpan) -> bool:
        text, start, end = self.text(span)
        cut = is_inside_word(text, start) or is_inside_word(text, end)
        return not cut and any(character.isalnum() for character in text[start:end])

    def distinct(self, unit: Unit, k: int) -> list[BruteSpan]:
        kept: dict[tuple[Any, ...], BruteSpan] = {}
        for span in self.ranked():
            if unit != "phrase" or self._is_phrase(span):
                kept.setdefault(self.key(span, unit), span)
        return list(kept.values())[:k]

    def apart(self, unit: Unit, k: int) -> list[list[BruteSpan]]:
        """The first results that overlap none of the chosen ones before, each with those that overlap it first."""
        groups: list[list[BruteSpan]] = []
        for span in self.distinct(unit, 1_000_000):
            group = next((group for group in groups if self._overlap(group[0], span, unit)), None)
            if group is None:
                groups.append([span])
            else:
                group.append(span)
        return groups[:k]

    def _overlap(self, one: BruteSpan, other: BruteSpan, unit: Unit) -> bool:
        if unit not in ("phrase", "sentence") or (one.segment, self.passage(one)) != (
            other.segment,
            self.passage(other),
        ):
            return False
        (start, end), (first, last) = self._shown(one, unit), self._shown(other, unit)
        return start < last and first < end

    def _shown(self, span: BruteSpan, unit: Unit) -> tuple[int, int]:
        text, start, end = self.text(span)
        around = sentences_around(text, start, end)
        return (start, end) if unit == "phrase" else (around.start, around.end)
