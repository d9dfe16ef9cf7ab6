"""Retrieval from an index in shards: what is known of all of them, and what a filter leaves."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import accumulate, islice
from operator import add
from threading import Lock

import numpy as np

from densephrases.arrays import Mask
from densephrases.built_once import BuiltOnce
from densephrases.cluster.sharding.assignment import shard_of
from densephrases.cluster.sharding.messages import ScopeCounts, ShardCounts, ShardQuery
from densephrases.cluster.sharding.shard_retrieval import ShardRetrieval
from densephrases.cluster.sharding.shards import Shards, ShardSession
from densephrases.index.cancellation import Check, go_on
from densephrases.search.filtering.filters import Filter
from densephrases.search.passages import sampled_numbers
from densephrases.search.query.named_documents import MOST_DOCUMENTS, NamedDocuments
from densephrases.search.retrieval.retriever import Aim, Retrieved, Retriever, Scope
from densephrases.search.scoring.identified import rare_identifiers
from densephrases.search.scoring.lexical import TermWeights
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.search.scoring.windows import Queries
from densephrases.search.timings import Timings
from densephrases.text.hashed_terms import TERMS
from densephrases.text.truecase import Truecaser

_FILTERS_KEPT = 8
_TEXTS_AT_ONCE = 1024

# Shape suffix: V all terms.


class ShardCatalog(Retriever):
    """What is known of all shards of one version: it is asked once and stays the same."""

    def __init__(self, shards: Shards) -> None:
        self.shards = shards
        replies = ShardSession(shards).ask_all("counts")
        self.of_shards: list[ShardCounts] = [replies[shard] for shard in range(shards.count)]
        self.first_segments = [0, *accumulate(len(each.passages_S) for each in self.of_shards)]
        self.first_documents = [0, *accumulate(each.stored for each in self.of_shards)]
        self._scopes: OrderedDict[Filter, dict[int, ScopeCounts]] = OrderedDict()
        self._lock = Lock()

    @BuiltOnce
    def counts(self) -> TermCounts:
        return reduce(add, (each.terms for each in self.of_shards))

    @BuiltOnce
    def named_documents(self) -> NamedDocuments:
        many = self.first_documents[-1] > MOST_DOCUMENTS
        return NamedDocuments.from_titles(() if many else [title for each in self.of_shards for title in each.titles])

    @property
    def damage(self) -> str:
        return ""

    def sampled_texts(self, characters: int) -> Iterator[str]:
        session = ShardSession(self.shards)
        numbers = sampled_numbers([count for each in self.of_shards for count in each.passages_S])
        while some := list(islice(numbers, _TEXTS_AT_ONCE)):
            for text in self._texts(session, some):
                yield text
                characters -= len(text)
                if characters <= 0:
                    return

    def _texts(self, session: ShardSession, numbers: Sequence[tuple[int, int]]) -> list[str]:
        owners = [shard_of(self.first_segments, segment) for segment, _ in numbers]
        wanted: dict[int, list[tuple[int, int]]] = {}
        for owner, number in zip(owners, numbers, strict=True):
            wanted.setdefault(owner, []).append(number)
        found = session.ask("passage_texts", {shard: (several,) for shard, several in wanted.items()})
        texts = {shard: iter(several) for shard, several in found.items()}
        return [next(texts[owner]) for owner in owners]

    def scope(self, wanted: Filter, check: Check = go_on) -> "ShardScope":
        return ShardRetriever(self, ShardSession(self.shards)).scope(wanted, check)

    def scope_counts(self, wanted: Filter, session: ShardSession, check: Check) -> dict[int, ScopeCounts]:
        """By shard; those of the last filters are known."""
        with self._lock:
            known = dict(self._scopes.get(wanted, {}))
        unknown = {shard: (wanted,) for shard in session.asked if shard not in known}
        known |= session.ask("scope", unknown, check)
        with self._lock:
            self._scopes[wanted] = known
            self._scopes.move_to_end(wanted)
            if len(self._scopes) > _FILTERS_KEPT:
                self._scopes.popitem(last=False)
        return known


class ShardRetriever(Retriever):
    """The shards as one search asks them."""

    def __init__(self, catalog: ShardCatalog, session: ShardSession) -> None:
        self._catalog = catalog
        self._session = session

    @property
    def counts(self) -> TermCounts:
        return self._catalog.counts

    @property
    def term_weights(self) -> TermWeights:
        return self._catalog.term_weights

    @property
    def truecaser(self) -> Truecaser:
        return self._catalog.truecaser

    @property
    def named_documents(self) -> NamedDocuments:
        return self._catalog.named_documents

    @property
    def damage(self) -> str:
        return self._catalog.damage

    def sampled_texts(self, characters: int) -> Iterator[str]:
        return self._catalog.sampled_texts(characters)

    def scope(self, wanted: Filter, check: Check = go_on) -> "ShardScope":
        return ShardScope(self._catalog, self._session, wanted, check)


class ShardScope(Scope):
    """The documents of all shards that a filter leaves."""

    def __init__(self, catalog: ShardCatalog, session: ShardSession, wanted: Filter, check: Check) -> None:
        self._catalog = catalog
        self._session = session
        self._filter = wanted
        self._known = catalog.scope_counts(wanted, session, check)

    @property
    def _counts(self) -> list[ScopeCounts]:
        """Of the shards that have not failed."""
        return [counts for shard, counts in self._known.items() if shard not in self._session.failed]

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self._counts)

    @property
    def passages(self) -> int:
        return sum(each.passages for each in self._counts)

    @property
    def documents(self) -> int:
        return sum(each.documents for each in self._counts)

    @property
    def exact(self) -> bool:
        return all(each.exact for each in self._counts)

    @BuiltOnce
    def known_V(self) -> Mask:  # noqa: N802
        marks = (each.known_V for each in self._counts)
        return np.asarray(np.logical_or.reduce([np.zeros(TERMS, dtype=bool), *marks]))

    def retrieve(
        self, questions: Sequence[str], queries: Queries, aim: Aim, timings: Timings, check: Check = go_on
    ) -> Retrieved:
        identifiers = self._identifiers(questions, queries, check)
        query = ShardQuery(queries, identifiers, aim, self._filter)
        return ShardRetrieval(self.rows, self._catalog.first_segments, self._session, query, timings, check)()

    def _identifiers(self, questions: Sequence[str], queries: Queries, check: Check) -> Mapping[int, Sequence[str]]:
        """Of the questions with some that passages of any shard have."""
        rare = {} if queries.terms is None else rare_identifiers(questions, self._catalog.counts)
        if not rare:
            return {}
        found = self._session.ask_all("identified", rare, self._filter, check=check)
        occurring = frozenset[int]().union(*found.values())
        return {question: each for question, each in rare.items() if question in occurring}
