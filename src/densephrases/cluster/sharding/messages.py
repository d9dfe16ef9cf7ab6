"""What the front of a served index and its shards send each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Floats, Ints, Mask
from densephrases.index.segment.document_record import DocumentRecord
from densephrases.search.filtering.filters import Filter
from densephrases.search.retrieval.retriever import Aim
from densephrases.search.scoring.candidates import Proposals
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.search.scoring.windows import Queries
from densephrases.text.hashed_terms import TERMS

# Shape suffixes: B questions, K columns of proposals, N phrases of all questions, P passages.


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """What a shard holds, whatever the filter.

    Attributes:
        stored: Documents, deleted ones included.
        terms: Passages that have each term.
        passages_S: Passages of each segment.
        titles: Ids and titles of documents, none if there are very many.
    """

    stored: int
    terms: TermCounts
    passages_S: Sequence[int]
    titles: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ScopeCounts:
    """What a filter leaves of a shard, as `SearchableSegment` counts it; `known` has a bit for each term."""

    rows: int
    passages: int
    documents: int
    exact: bool
    known: NDArray[np.uint8]

    @property
    def known_V(self) -> Mask:  # noqa: N802
        return np.unpackbits(self.known, count=TERMS).astype(bool)


@dataclass(frozen=True, slots=True)
class ShardQuery:
    """Questions as vectors and terms, and what is wanted of them.

    Attributes:
        identifiers: Of questions, by number, that have some which passages of any shard have.
        aim: What a shard seeks.
        wanted: The filter.
    """

    queries: Queries
    identifiers: Mapping[int, Sequence[str]]
    aim: Aim
    wanted: Filter

    def take(self, questions: Ints, aim: Aim) -> "ShardQuery":
        places = enumerate(questions.tolist())
        identifiers = {place: self.identifiers[number] for place, number in places if number in self.identifiers}
        return ShardQuery(self.queries.take(questions), identifiers, aim, self.wanted)


@dataclass(frozen=True, slots=True)
class SentPassages:
    """Passages by key, in ascending order, and the documents that they are of.

    Attributes:
        key_P: Identifies the passage in the whole index.
        document_key_P: Identifies its document in the whole index.
        begins: Offset of each in its document's text.
        before: The passage before it in the same document, empty if there is none; None if no question needs it.
    """

    key_P: Ints
    document_key_P: Ints
    texts: Sequence[str]
    begins: Sequence[int]
    documents: Mapping[int, DocumentRecord]
    before: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class ShardHeads:
    """The heads of the ranked lists of a shard, one question after the other.

    Attributes:
        edges_B: The first phrase of each question; one more than questions.
        segment_N, start_N, end_N: The segment of the whole index, the first and the last row.
        score_N: Before penalties of single phrases.
        passage_N: Key of the passage.
        spans_N2: Character offsets in the passage.
        lexical_N: Penalty of the question terms that the passage lacks.
        least_B: All phrases of the shard that score at least as much are there.
        passages: Those of the phrases.
    """

    edges_B: Ints
    segment_N: Ints
    start_N: Ints
    end_N: Ints
    score_N: Floats
    passage_N: Ints
    spans_N2: Ints
    lexical_N: Floats
    least_B: Floats
    passages: SentPassages

    def where(self, chosen_N: Mask) -> Self:
        """Some of the phrases."""
        columns = {name: getattr(self, name)[chosen_N] for name in _OF_PHRASES}
        return replace(self, edges_B=np.concatenate([[0], np.cumsum(chosen_N)])[self.edges_B], **columns)

    def without_bound(self, lacking_B: Mask) -> Self:
        """Without a claim about some questions."""
        return replace(self, least_B=np.where(lacking_B, -np.inf, self.least_B))

    def of_several(self, questions: int, place_B: Ints) -> Self:
        """As a reply to more questions, of which those at some places were asked."""
        counts, least = np.zeros(questions, dtype=np.int64), np.full(questions, -np.inf)
        counts[place_B], least[place_B] = np.diff(self.edges_B), self.least_B
        return replace(self, edges_B=np.concatenate([[0], np.cumsum(counts)]), least_B=least)


_OF_PHRASES = [field.name for field in fields(ShardHeads) if "_N" in field.name]


@dataclass(frozen=True, slots=True)
class ShardProposals:
    """The candidate rows of a shard, and what it expects to be asked next.

    Attributes:
        proposals: With the numbers that segments have in the whole index.
        ahead_BK: Marks the rows that are likely to be chosen.
        heads: Of the phrases around these; None if there are none ahead.
    """

    proposals: Proposals
    ahead_BK: Mask
    heads: ShardHeads | None
