"""Retrieval from the segments of one state of an index."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from densephrases.arrays import Mask
from densephrases.built_once import BuiltOnce
from densephrases.index.cancellation import Check, go_on
from densephrases.index.snapshot import Snapshot
from densephrases.search.filtering.filters import Filter
from densephrases.search.passages import SegmentTexts, sampled_texts
from densephrases.search.query.named_documents import NamedDocuments, titles_of
from densephrases.search.retrieval.retriever import Aim, Retrieved, Retriever, Scope
from densephrases.search.scoring.identified import IdentifiedPassages
from densephrases.search.scoring.pairs import PairSearch
from densephrases.search.scoring.searchable import FilteredSegments, SearchableSegment, exact_candidates, known_terms
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.search.scoring.windows import Queries
from densephrases.search.selection.distinct_results import DistinctResults
from densephrases.search.timings import Timings

_VERIFIED_BYTES = 1 << 26  # of the smallest files, after a search has failed


class SegmentScope(Scope):
    """Segments without the rows that a filter leaves out."""

    def __init__(self, segments: Sequence[SearchableSegment], counts: TermCounts) -> None:
        self.segments = segments
        self._counts = counts

    @property
    def passages(self) -> int:
        return sum(each.passages for each in self.segments)

    @property
    def documents(self) -> int:
        return sum(each.documents for each in self.segments)

    @property
    def exact(self) -> bool:
        return exact_candidates(self.segments)

    @BuiltOnce
    def known_V(self) -> Mask:  # noqa: N802
        return known_terms(self.segments)

    def retrieve(
        self, questions: Sequence[str], queries: Queries, aim: Aim, timings: Timings, check: Check = go_on
    ) -> Retrieved:
        if queries.terms is not None:
            identified = self.identified(questions, check)
            queries = replace(queries, terms=replace(queries.terms, identified=identified)) if identified else queries
        texts = SegmentTexts(self.segments)
        return Retrieved(self.pair_search(texts, aim, timings, check)(queries), texts)

    def identified(self, questions: Sequence[str], check: Check = go_on) -> IdentifiedPassages | None:
        """Passages with identifiers of the questions; None if there are none."""
        found = IdentifiedPassages.find(questions, [each.segment for each in self.segments], self._counts, check)
        return found if found.shares else None

    def pair_search(self, texts: SegmentTexts, aim: Aim, timings: Timings, check: Check) -> PairSearch:
        return PairSearch(
            self.segments,
            aim.wanted,
            DistinctResults(texts, aim.unit, aim.wanted, check, aim.apart),
            exact=aim.exact,
            effort=aim.effort,
            length_penalty=aim.length_penalty,
            timings=timings,
            check=check,
        )


class SegmentRetriever(Retriever):
    """All segments of a snapshot."""

    def __init__(self, index: Snapshot) -> None:
        self._index = index
        self._filtered = FilteredSegments(index)

    def scope(self, wanted: Filter, check: Check = go_on) -> SegmentScope:
        return SegmentScope(self._filtered(wanted, check), self.counts)

    @BuiltOnce
    def counts(self) -> TermCounts:
        return TermCounts.from_snapshot(self._index)

    @BuiltOnce
    def named_documents(self) -> NamedDocuments:
        return NamedDocuments.from_titles(titles_of(self._index))

    def sampled_texts(self, characters: int) -> Iterator[str]:
        return sampled_texts(self._index.segments, characters)

    @BuiltOnce
    def damage(self) -> str:
        """Only sizes and the smallest files are verified, once: this is asked after a search has failed."""
        return next(self._index.problems_of_small_files(_VERIFIED_BYTES), "")
