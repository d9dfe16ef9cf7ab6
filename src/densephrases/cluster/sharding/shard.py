"""A shard: consecutive segments of an index, and what is computed where these are. It does not know of Ray."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from densephrases.arrays import Floats, Ints
from densephrases.cluster.sharding.messages import (
    ScopeCounts,
    SentPassages,
    ShardCounts,
    ShardHeads,
    ShardProposals,
    ShardQuery,
)
from densephrases.index.cancellation import Check, go_on
from densephrases.index.snapshot import Snapshot
from densephrases.search.filtering.filters import Filter
from densephrases.search.passages import PASSAGE_BITS, PASSAGE_NUMBER, FoundPassage, SegmentTexts
from densephrases.search.query.named_documents import titles_of
from densephrases.search.retrieval.segment_retriever import SegmentRetriever, SegmentScope
from densephrases.search.scoring.candidates import Candidates, Proposals
from densephrases.search.scoring.identified import IdentifiedPassages
from densephrases.search.scoring.pairs import Head, Phrases
from densephrases.search.scoring.searchable import SearchableSegment
from densephrases.search.scoring.windows import Hits, Queries
from densephrases.search.selection.distinct_results import PHRASES_PER_RESULT
from densephrases.search.timings import Timings
from densephrases.text.documents import Document

SHOWN_PER_RESULT = 6  # phrases whose passages are sent with them: one question in sixteen needs another one


class Shard:
    """The segments of a snapshot, which are those of the whole index from `first` on; any threads may share it."""

    def __init__(self, index: Snapshot, first: int) -> None:
        self._index = index
        self._first = first
        self._retriever = SegmentRetriever(index)
        self._numbers = {id(segment): first + place for place, segment in enumerate(index.segments)}

    def counts(self) -> ShardCounts:
        segments = self._index.segments
        return ShardCounts(
            stored=sum(segment.documents for segment in segments),
            terms=self._retriever.counts,
            passages_S=[len(segment.passage_documents) for segment in segments],
            titles=titles_of(self._index),
        )

    def scope(self, wanted: Filter, check: Check = go_on) -> ScopeCounts:
        scope = self._retriever.scope(wanted, check)
        rows = sum(each.rows for each in scope.segments)
        return ScopeCounts(rows, scope.passages, scope.documents, scope.exact, np.packbits(scope.known_V))

    def identified(
        self, identifiers: Mapping[int, Sequence[str]], wanted: Filter, check: Check = go_on
    ) -> frozenset[int]:
        """The questions with identifiers that some passage has."""
        segments = [each.segment for each in self._retriever.scope(wanted, check).segments]
        return frozenset(IdentifiedPassages.from_identifiers(identifiers, segments, check).occurring().shares)

    def heads(self, query: ShardQuery, check: Check = go_on) -> ShardHeads:
        """Of all phrases of the shard."""
        scope, queries = self._asked(query, check)
        texts = SegmentTexts(scope.segments)
        search = scope.pair_search(texts, replace(query.aim, exact=True), Timings(), check)
        return self._sent(search.heads(queries), queries, query, texts)

    def proposals(
        self, query: ShardQuery, count: int, effort: float, ahead: int, check: Check = go_on
    ) -> ShardProposals:
        """The candidate rows of the shard, and the phrases around the best `ahead` of each question."""
        scope, queries = self._asked(query, check)
        found = Proposals.from_segments(scope.segments, queries, count, effort, queries.terms, check)
        ahead_BK, heads = np.zeros(found.rows_BK.shape, dtype=bool), None
        if ahead:
            ahead_BK = found.best(ahead)
            heads = self._heads_around(query, scope, queries, *found.hits(ahead_BK, len(scope.segments)), check)
        numbers = self._numbers_of(scope.segments)
        return ShardProposals(replace(found, segment_K=numbers[found.segment_K]), ahead_BK, heads)

    def around(
        self, query: ShardQuery, starts: Sequence[Hits], ends: Sequence[Hits], check: Check = go_on
    ) -> ShardHeads:
        """Of the phrases around candidate rows, which are given for each segment of the shard."""
        scope, queries = self._asked(query, check)
        places = [self._numbers[id(each.segment)] - self._first for each in scope.segments]
        hits = [starts[place] for place in places], [ends[place] for place in places]
        return self._heads_around(query, scope, queries, *hits, check)

    def _heads_around(
        self,
        query: ShardQuery,
        scope: SegmentScope,
        queries: Queries,
        starts: Sequence[Hits],
        ends: Sequence[Hits],
        check: Check,
    ) -> ShardHeads:
        """Of phrases, the best are sent, and the results are selected from those of all shards."""
        nothing_short = np.zeros(len(queries), dtype=bool)
        candidates = Candidates.from_hits(starts, ends, scope.segments, queries.terms, nothing_short)
        texts = SegmentTexts(scope.segments)
        search = scope.pair_search(texts, query.aim, Timings(), check)
        if query.aim.unit != "phrase":
            return self._sent(search.around(queries, candidates), queries, query, texts)
        found = search.phrases(queries, candidates)
        heads = [_best(each, PHRASES_PER_RESULT * query.aim.wanted) for each in found]
        return self._sent(heads, queries, query, texts, SHOWN_PER_RESULT * query.aim.wanted)

    def boundary_scores(self, rows: Sequence[tuple[int, int, int]], start_D: Floats, end_D: Floats) -> list[Floats]:
        """The inner products of the first and the last row of phrases, given by segment, first and last row."""
        texts, places = self._all_texts()
        columns = np.array([(places[segment], start, end) for segment, start, end in rows], dtype=np.int64)
        segment_N, start_N, end_N = columns.reshape(-1, 3).T
        phrases = Phrases(segment_N, start_N, end_N, np.zeros(len(rows), dtype=np.float32))
        return list(texts.boundary_scores(phrases, start_D, end_D))

    def passages(self, keys: Sequence[int], with_before: bool) -> SentPassages:
        """Those with these keys in the whole index."""
        texts, places = self._all_texts()
        keys_of_shard = [(places[key >> PASSAGE_BITS] << PASSAGE_BITS) + (key & PASSAGE_NUMBER) for key in keys]
        return self._sent_passages(np.array(keys_of_shard, dtype=np.int64), texts, with_before)

    def _all_texts(self) -> tuple[SegmentTexts, Mapping[int, int]]:
        """Whatever the filter, and the places of the segments by their numbers in the whole index."""
        texts = SegmentTexts(self._retriever.scope(Filter()).segments)
        return texts, {number: place for place, number in enumerate(self._numbers_of(texts.segments).tolist())}

    def _numbers_of(self, segments: Sequence[SearchableSegment]) -> Ints:
        """In the whole index."""
        return np.array([self._numbers[id(each.segment)] for each in segments], dtype=np.int64)

    def passage_texts(self, numbers: Sequence[tuple[int, int]]) -> list[str]:
        """Of passages given by their segment in the whole index and their number in it."""
        return [self._index.segments[segment - self._first].passage_text(number) for segment, number in numbers]

    def document(self, identifier: str) -> Document | None:
        location = self._index.locate([identifier]).get(identifier)
        return None if location is None else self._index.segments[location.segment].document(location.document)

    def documents_at(self, places: Sequence[int]) -> list[Document]:
        """Those with these numbers among all documents of the shard, without deleted ones."""
        return list(self._index.documents_at(places))

    def _asked(self, query: ShardQuery, check: Check) -> tuple[SegmentScope, Queries]:
        scope, queries = self._retriever.scope(query.wanted, check), query.queries
        if queries.terms is None or not query.identifiers:
            return scope, queries
        segments = [each.segment for each in scope.segments]
        identified = IdentifiedPassages.from_identifiers(query.identifiers, segments, check)
        return scope, replace(queries, terms=replace(queries.terms, identified=identified))

    def _sent(
        self,
        heads: Sequence[Head],
        queries: Queries,
        query: ShardQuery,
        texts: SegmentTexts,
        shown: int | None = None,
    ) -> ShardHeads:
        """Other results than phrases are selected here, as no two shards have phrases of one of them.

        The passages of the first `shown` phrases of each question are sent with them, or those of all.
        """
        several = [head.phrases.reaching(head.least) if query.aim.unit == "phrase" else head.results for head in heads]
        phrases = Phrases.joined(several)
        edges_B = np.cumsum([0, *map(len, several)])
        question_N = np.repeat(np.arange(len(several)), np.diff(edges_B))
        located, terms = texts.locate(phrases), queries.terms
        numbers = self._numbers_of(texts.segments)
        shown_N = np.arange(len(phrases)) - edges_B[question_N] < (len(phrases) if shown is None else shown)
        lexical_N = np.zeros(len(phrases), np.float32)
        return ShardHeads(
            edges_B=edges_B,
            segment_N=numbers[phrases.segment_N] if len(phrases) else phrases.segment_N,
            start_N=phrases.start_N,
            end_N=phrases.end_N,
            score_N=phrases.score_N,
            passage_N=_renumbered(numbers, located.passage_N),
            spans_N2=located.spans_N2,
            lexical_N=lexical_N if terms is None else texts.lexical_penalties(phrases, question_N, terms),
            least_B=np.array([head.least for head in heads]),
            passages=self._sent_passages(located.passage_N[shown_N], texts, bool(query.identifiers)),
        )

    def _sent_passages(self, passage_N: Ints, texts: SegmentTexts, with_before: bool) -> SentPassages:
        key_P, numbers = np.unique(passage_N), self._numbers_of(texts.segments)
        document_key_P = _renumbered(numbers, texts.documents_of(key_P))
        found = [texts.passage(key) for key in key_P.tolist()]
        records: Iterator[tuple[int, FoundPassage]] = zip(document_key_P.tolist(), found, strict=True)
        return SentPassages(
            key_P=_renumbered(numbers, key_P),
            document_key_P=document_key_P,
            texts=[each.text for each in found],
            begins=[each.begin for each in found],
            documents={key: each.document for key, each in records},
            before=[texts.text_before(key) for key in key_P.tolist()] if with_before else None,
        )


def _best(phrases: Phrases, count: int) -> Head:
    """The best phrases, and those that score as much as the last of them."""
    best = phrases.best(count)
    return Head(best, best, enough=len(best) < len(phrases))


def _renumbered(numbers: Ints, key_N: Ints) -> Ints:
    """Keys of passages or documents with the numbers that their segments have in the whole index."""
    if not len(key_N):
        return key_N
    return np.asarray((numbers[key_N >> PASSAGE_BITS] << PASSAGE_BITS) + (key_N & PASSAGE_NUMBER))
