"""The passages around found phrases, read when they are needed and once per search."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from densephrases.arrays import Floats, Ints, owners
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.index.segment.reader import Segment
from densephrases.search.scoring.lexical import QuestionTerms, SpanInText
from densephrases.search.scoring.pairs import Phrases
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.text.searched_text import SearchedText

PASSAGE_BITS = 40  # of a passage's number in its segment, in the key of a passage
PASSAGE_NUMBER = (1 << PASSAGE_BITS) - 1
_STRIDE = 64

# Shape suffixes: N phrases, D vector size.


@dataclass(frozen=True)
class FoundPassage:
    """A passage, the document it is from, and the offset of its first character in that document's text."""

    text: str
    begin: int
    document: DocumentRecord
    searched_titles: dict[str, SearchedText] = field(default_factory=dict, repr=False, compare=False)  # of the search

    @cached_property
    def searched(self) -> SearchedText:
        return SearchedText(self.text)

    def titles(self, position: int) -> SearchedText:
        """That of the document, and the headings above a character of the passage."""
        titles = "\n".join((self.document.title, *self.document.layout.path(self.begin + position)))
        if titles not in self.searched_titles:
            self.searched_titles[titles] = SearchedText(titles)
        return self.searched_titles[titles]

    def is_heading(self, start: int, end: int) -> bool:
        """Whether the characters touch a heading, of which no answer is taken."""
        layout = self.document.layout
        return bool(layout.sections) and any(layout.headings(self.begin + start, self.begin + end))


def sampled_texts(segments: Sequence[Segment], characters: int) -> Iterator[str]:
    """The first texts of `sampled_numbers`, until `characters` have been read."""
    for segment, number in sampled_numbers([len(each.passage_documents) for each in segments]):
        text = segments[segment].passage_text(number)
        yield text
        characters -= len(text)
        if characters <= 0:
            return


def sampled_numbers(passages_S: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Every 64th passage of a collection, then the passages after those: the number of the segment, and in it.

    Args:
        passages_S: Passages of each segment.
    """
    edges = [0, *accumulate(passages_S)]
    for first in range(_STRIDE):
        for number in range(first, edges[-1], _STRIDE):
            owner = bisect_right(edges, number) - 1
            yield owner, number - edges[owner]


@dataclass(frozen=True, slots=True)
class LocatedPhrases:
    """Phrases, the key of each one's passage, and its character offsets (N, 2) in that passage."""

    phrases: Phrases
    passage_N: Ints
    spans_N2: Ints

    def take(self, chosen: Ints | slice) -> "LocatedPhrases":
        return LocatedPhrases(self.phrases.take(chosen), self.passage_N[chosen], self.spans_N2[chosen])


class PassageTexts(ABC):
    """What stands around the phrases of one search. A key is a number that identifies one passage of the collection."""

    @abstractmethod
    def passage(self, key: int) -> FoundPassage: ...

    @abstractmethod
    def text_before(self, key: int) -> str:
        """The passage before one in the same document; empty if it is the first."""

    @abstractmethod
    def passage_keys(self, phrases: Phrases) -> Ints: ...

    @abstractmethod
    def document_keys(self, phrases: Phrases) -> Ints:
        """Numbers that identify one document of the collection."""

    @abstractmethod
    def spans(self, phrases: Phrases) -> Ints:
        """The character offsets (N, 2) of each phrase in its passage."""

    @abstractmethod
    def lexical_penalties(self, phrases: Phrases, question_N: Ints, terms: QuestionTerms) -> Floats:
        """Of the question terms that the passages lack, without those of identifiers."""

    @abstractmethod
    def boundary_scores(self, phrases: Phrases, start_D: Floats, end_D: Floats) -> tuple[Floats, Floats]:
        """The inner products of the first rows with a start vector, and of the last rows with an end vector."""

    def locate(self, phrases: Phrases) -> LocatedPhrases:
        return LocatedPhrases(phrases, self.passage_keys(phrases), self.spans(phrases))

    def spans_in_text(self, located: LocatedPhrases) -> Iterator[SpanInText]:
        for key, (start, end) in zip(located.passage_N.tolist(), located.spans_N2.tolist(), strict=True):
            yield self.passage(key).searched, start, end

    def sentences(self, passage_N: Ints, spans_N2: Ints) -> Ints:
        """The character offsets (N, 2) of the sentences around each span, in its passage."""
        rows = zip(passage_N.tolist(), spans_N2.tolist(), strict=True)
        around = [self.passage(key).searched.sentences_around(*span) for key, span in rows]
        return np.array([(each.start, each.end) for each in around], dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, slots=True)
class SegmentTexts(PassageTexts):
    """Of phrases in segments."""

    segments: Sequence[SearchableSegment]
    _known: dict[int, FoundPassage] = field(default_factory=dict)
    _documents: dict[tuple[int, int], DocumentRecord] = field(default_factory=dict)
    _titles: dict[str, SearchedText] = field(default_factory=dict)

    def passage(self, key: int) -> FoundPassage:
        found = self._known.get(key)
        if found is None:
            owner, number = key >> PASSAGE_BITS, key & PASSAGE_NUMBER
            segment = self.segments[owner].segment
            document = self._document(owner, int(segment.passage_documents[number]))
            text, begin = segment.passage_text(number), int(segment.passage_offsets[number])
            found = self._known[key] = FoundPassage(text, begin, document, self._titles)
        return found

    def _document(self, segment: int, number: int) -> DocumentRecord:
        key = segment, number
        if key not in self._documents:
            self._documents[key] = self.segments[segment].segment.record(number)
        return self._documents[key]

    def text_before(self, key: int) -> str:
        number = key & PASSAGE_NUMBER
        if number == 0:
            return ""
        documents = self.segments[key >> PASSAGE_BITS].segment.passage_documents
        return self.passage(key - 1).text if documents[number - 1] == documents[number] else ""

    def passage_keys(self, phrases: Phrases) -> Ints:
        return (phrases.segment_N << PASSAGE_BITS) + self._look_up(phrases, _passages)

    def document_keys(self, phrases: Phrases) -> Ints:
        return self.documents_of(self.passage_keys(phrases))

    def documents_of(self, passage_keys_N: Ints) -> Ints:
        """The key of the document of each passage."""
        segment_N, number_N = passage_keys_N >> PASSAGE_BITS, passage_keys_N & PASSAGE_NUMBER
        documents_N = np.zeros_like(passage_keys_N)
        for number, each in enumerate(self.segments):
            here = segment_N == number
            documents_N[here] = each.segment.passage_documents[number_N[here]]
        return (segment_N << PASSAGE_BITS) + documents_N

    def spans(self, phrases: Phrases) -> Ints:
        return self.locate(phrases).spans_N2

    def locate(self, phrases: Phrases) -> LocatedPhrases:
        places_N3 = self._look_up(phrases, _places, 3)
        keys_N = (phrases.segment_N << PASSAGE_BITS) + places_N3[:, 0]
        return LocatedPhrases(phrases, keys_N, places_N3[:, 1:])

    def lexical_penalties(self, phrases: Phrases, question_N: Ints, terms: QuestionTerms) -> Floats:
        penalties_N, terms = np.zeros(len(phrases), dtype=np.float32), replace(terms, identified=None)
        for number, here in self._by_segment(phrases):
            segment = self.segments[number].segment
            penalties_N[here] = terms.penalties_of_rows(segment, question_N[here], phrases.start_N[here])
        return penalties_N

    def boundary_scores(self, phrases: Phrases, start_D: Floats, end_D: Floats) -> tuple[Floats, Floats]:
        both_2D = np.stack([start_D, end_D])
        scores_2N = np.zeros((2, len(phrases)), dtype=np.float32)
        for number, here in self._by_segment(phrases):
            rows_N = np.concatenate([phrases.start_N[here], phrases.end_N[here]])
            edges = np.arange(3) * len(here)
            scores_2N[:, here] = self.segments[number].segment.store.own_scores(both_2D, rows_N, edges).reshape(2, -1)
        return scores_2N[0], scores_2N[1]

    def _look_up(self, phrases: Phrases, field: Callable[[Segment, Phrases], Ints], *columns: int) -> Ints:
        if len(self.segments) == 1:
            return field(self.segments[0].segment, phrases)
        values_N = np.zeros((len(phrases), *columns), dtype=np.int64)
        for number, here in self._by_segment(phrases):
            values_N[here] = field(self.segments[number].segment, phrases.take(here))
        return values_N

    @staticmethod
    def _by_segment(phrases: Phrases) -> Iterator[tuple[int, Ints]]:
        """The number of each segment, and which of the phrases are in it."""
        for number in np.unique(phrases.segment_N).tolist():
            yield number, np.flatnonzero(phrases.segment_N == number)


def _passages(segment: Segment, phrases: Phrases) -> Ints:
    return owners(segment.vector_edges, phrases.start_N)


def _places(segment: Segment, phrases: Phrases) -> Ints:
    """The passage of each phrase, and where in it the phrase begins and stops (N, 3)."""
    passage_N = _passages(segment, phrases)
    first_N = segment.passage_bytes[passage_N]
    begins_N = segment.token_offsets(phrases.start_N)
    stops_N = segment.token_offsets(phrases.end_N) + segment.lengths(phrases.end_N)
    return np.stack([passage_N, begins_N - first_N, stops_N - first_N], axis=1)
