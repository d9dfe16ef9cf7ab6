"""Retrieval from an index in shards, with the results that one machine with all segments would have.

Where candidates are exact, every shard sends the head of its own ranked list, down to the score of the last of its
results, and the results of all are selected from these heads together. Where they are approximate, the shards propose
rows first; those are chosen which one machine would choose, and the shards send the phrases around them.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import accumulate, islice
from operator import add
from threading import Lock

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.built_once import BuiltOnce
from densephrases.cluster.sharding.messages import ScopeCounts, ShardCounts, ShardHeads, ShardQuery
from densephrases.cluster.sharding.sent_texts import Rows, SentTexts
from densephrases.cluster.sharding.shards import Shards, ShardSession
from densephrases.index.cancellation import Check, go_on
from densephrases.search.filtering.filters import Filter
from densephrases.search.passages import sampled_numbers
from densephrases.search.query.named_documents import MOST_DOCUMENTS, NamedDocuments
from densephrases.search.retrieval.retriever import Aim, Retrieved, Retriever, Scope
from densephrases.search.scoring.candidates import Proposals
from densephrases.search.scoring.identified import rare_identifiers
from densephrases.search.scoring.lexical import TermWeights
from densephrases.search.scoring.pairs import NOTHING, Phrases, first_depth, search_deeper
from densephrases.search.scoring.term_counts import TermCounts
from densephrases.search.scoring.windows import Queries
from densephrases.search.selection.distinct_results import DistinctResults
from densephrases.search.timings import Timings
from densephrases.text.hashed_terms import TERMS
from densephrases.text.truecase import Truecaser

_FILTERS_KEPT = 8
_TEXTS_AT_ONCE = 1024

# Shape suffixes: B questions, K columns of proposals, V all terms.


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
        owners = [self.owner(segment) for segment, _ in numbers]
        wanted: dict[int, list[tuple[int, int]]] = {}
        for owner, number in zip(owners, numbers, strict=True):
            wanted.setdefault(owner, []).append(number)
        found = session.ask("passage_texts", {shard: (several,) for shard, several in wanted.items()})
        texts = {shard: iter(several) for shard, several in found.items()}
        return [next(texts[owner]) for owner in owners]

    def owner(self, segment: int) -> int:
        """The shard of a segment."""
        return int(np.searchsorted(self.first_segments, segment, side="right")) - 1

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
        return _Retrieval(self, self._catalog, self._session, query, timings, check)()

    def _identifiers(self, questions: Sequence[str], queries: Queries, check: Check) -> Mapping[int, Sequence[str]]:
        """Of the questions with some that passages of any shard have."""
        rare = {} if queries.terms is None else rare_identifiers(questions, self._catalog.counts)
        if not rare:
            return {}
        found = self._session.ask_all("identified", rare, self._filter, check=check)
        occurring = frozenset[int]().union(*found.values())
        return {question: each for question, each in rare.items() if question in occurring}


class _Retrieval:
    """The retrieval for the questions of one search."""

    def __init__(
        self,
        scope: ShardScope,
        catalog: ShardCatalog,
        session: ShardSession,
        query: ShardQuery,
        timings: Timings,
        check: Check,
    ) -> None:
        self._scope = scope
        self._catalog = catalog
        self._session = session
        self._query = query
        self._timings = timings
        self._check = check
        self._texts = SentTexts(self._boundary_scores)
        aim = query.aim
        self._distinct = DistinctResults(self._texts, aim.unit, aim.wanted, check, aim.apart)
        self._results: list[Phrases] = [NOTHING] * len(query.queries)

    def __call__(self) -> Retrieved:
        aim = self._query.aim
        if self._scope.rows:
            effort = 1.0 if aim.exact else aim.effort
            search_deeper(len(self._query.queries), first_depth(aim.wanted), effort, self._look)
        return Retrieved(self._results, self._texts)

    def _look(self, questions: Ints, depth: int, effort: float) -> Iterator[tuple[Ints, Mask, Mask]]:
        if not len(questions):
            return
        nothing = np.zeros(len(questions), dtype=bool)
        if self._query.aim.exact or depth >= self._scope.rows:
            self._select(questions, self._heads)
            yield questions, nothing, nothing
            return
        with self._timings.measured("candidates"):
            rows, short_B = self._candidates(questions, depth, effort)
        self._select(questions, lambda query, some: self._around(query, rows, some))
        missing = [not self._distinct.suffice(self._results[question]) for question in questions.tolist()]
        yield questions, np.array(missing, dtype=bool), short_B

    def _select(self, questions: Ints, ask: Callable[[ShardQuery, Ints], Mapping[int, ShardHeads]]) -> None:
        """The results of some questions from the heads of all shards, longer ones where they may lack a result.

        That is rare: a phrase that is a result in one shard is none among those of all only if better ones take its
        place.
        """
        aim, some = self._query.aim, np.arange(len(questions))
        while len(some):
            asked = self._query.take(questions[some], aim)
            with self._timings.measured("window"):
                replies = list(ask(asked, some).values())
            if not replies:
                return
            found = self._distinct(self._texts.add(replies), asked.queries.terms)
            least_B = np.max([reply.least_B for reply in replies], axis=0)
            for place, results in zip(some.tolist(), found, strict=True):
                self._results[int(questions[place])] = results
            lacking = [not self._is_whole(*each) for each in zip(found, least_B.tolist(), strict=True)]
            some, aim = some[np.array(lacking, dtype=bool)], replace(aim, wanted=2 * aim.wanted, apart=2 * aim.apart)

    def _is_whole(self, results: Phrases, least: float) -> bool:
        """Whether no phrase that was not sent can be among the results."""
        return least == -np.inf or (self._distinct.suffice(results) and float(results.score_N[-1]) >= least)

    def _heads(self, query: ShardQuery, _: Ints) -> Mapping[int, ShardHeads]:
        return self._session.ask_all("heads", query, check=self._check)

    def _candidates(self, questions: Ints, depth: int, effort: float) -> tuple[tuple[Proposals, Mask], Mask]:
        query = self._query.take(questions, self._query.aim)
        replies = self._session.ask_all("proposals", query, depth, effort, check=self._check)
        proposals = Proposals.joined(list(replies.values()))
        chosen_BK = proposals.best(depth)
        return (proposals, chosen_BK), proposals.short(chosen_BK, depth)

    def _around(self, query: ShardQuery, rows: tuple[Proposals, Mask], some: Ints) -> Mapping[int, ShardHeads]:
        proposals, chosen_BK = rows
        both = np.concatenate([some, some + proposals.questions])
        proposals, chosen_BK = proposals.take(both), chosen_BK[both]
        starts, ends = proposals.hits(chosen_BK, self._catalog.first_segments[-1])
        calls = {}
        for shard in self._session.asked:
            own = slice(*self._catalog.first_segments[shard : shard + 2])
            calls[shard] = query, starts[own], ends[own]
        return self._session.ask("around", calls, self._check)

    def _boundary_scores(self, rows: Rows, start_D: Floats, end_D: Floats) -> tuple[Floats, Floats]:
        owners = np.array([self._catalog.owner(segment) for segment, _, _ in rows], dtype=np.int64)
        scores_2N = np.full((2, len(rows)), np.nan, dtype=np.float32)
        places = {shard: np.flatnonzero(owners == shard) for shard in set(owners.tolist()) - self._session.failed}
        calls = {shard: ([rows[place] for place in own.tolist()], start_D, end_D) for shard, own in places.items()}
        for shard, reply in self._session.ask("boundary_scores", calls, self._check).items():
            scores_2N[:, places[shard]] = reply
        return scores_2N[0], scores_2N[1]
