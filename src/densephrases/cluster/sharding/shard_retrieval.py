"""The retrieval for one search in shards, with the results that one machine with all segments would have.

Where candidates are exact, every shard sends the head of its own ranked list, down to the score of the last of its
results, and the results of all are selected from these heads together. Where they are approximate, the shards propose
rows; those are chosen which one machine would choose. With a few questions a shard sends the phrases around its best
rows at once, more of them than are likely to be chosen, and is asked again only if that is too little.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.cluster.sharding.assignment import shard_of
from densephrases.cluster.sharding.chosen_rows import ChosenRows, ahead_of
from densephrases.cluster.sharding.messages import SentPassages, ShardHeads, ShardQuery
from densephrases.cluster.sharding.sent_texts import Rows, SentTexts
from densephrases.cluster.sharding.shards import Arguments, ShardSession
from densephrases.index.cancellation import Check
from densephrases.search.passages import PASSAGE_BITS
from densephrases.search.retrieval.retriever import Retrieved
from densephrases.search.scoring.pairs import NO_RESULTS, Selection, first_depth, search_deeper
from densephrases.search.selection.distinct_results import DistinctResults
from densephrases.search.timings import Timings

# Shape suffixes: B questions.

Ask = Callable[[ShardQuery, Ints], list[ShardHeads]]
"""Asks shards about some of the questions, which are also given by their numbers."""


class ShardRetrieval:
    """The retrieval for the questions of one search.

    Args:
        rows: That may be found.
        first_segments: The first segment of each shard, and the number of all.
        session: The shards.
        query: All questions.
    """

    def __init__(
        self,
        rows: int,
        first_segments: Sequence[int],
        session: ShardSession,
        query: ShardQuery,
        timings: Timings,
        check: Check,
    ) -> None:
        self._rows = rows
        self._first_segments = first_segments
        self._session = session
        self._query = query
        self._timings = timings
        self._check = check
        self._texts = SentTexts(self._boundary_scores, self._passages)
        aim = query.aim
        self._distinct = DistinctResults(self._texts, aim.unit, aim.wanted, check, aim.apart)
        self._selected = [NO_RESULTS] * len(query.queries)

    def __call__(self) -> Retrieved:
        aim = self._query.aim
        if self._rows:
            effort = 1.0 if aim.exact else aim.effort
            search_deeper(len(self._query.queries), first_depth(aim.wanted), effort, self._look)
        return Retrieved([each.results for each in self._selected], self._texts)

    def _look(self, questions: Ints, depth: int, effort: float) -> Iterator[tuple[Ints, Mask, Mask]]:
        if not len(questions):
            return
        nothing = np.zeros(len(questions), dtype=bool)
        if self._query.aim.exact or depth >= self._rows:
            self._select(questions, self._heads)
            yield questions, nothing, nothing
            return
        with self._timings.measured("candidates"):
            rows = self._candidates(questions, depth, effort)
        self._select(questions, partial(self._sent_ahead, rows), partial(self._around, rows))
        missing = [not self._selected[question].enough for question in questions.tolist()]
        yield questions, np.array(missing, dtype=bool), rows.short_B

    def _select(self, questions: Ints, ask: Ask, then: Ask | None = None) -> None:
        """The results of some questions from the heads of all shards, longer ones where they may lack a result.

        Args:
            questions: By their numbers among all.
            ask: How shards are asked first.
            then: How they are asked for longer heads, if otherwise.
        """
        aim, some = self._query.aim, np.arange(len(questions))
        while len(some):
            asked = self._query.take(questions[some], aim)
            with self._timings.measured("window"):
                replies = ask(asked, some)
            if not replies:
                return
            found = self._distinct(self._texts.add(replies), asked.queries.terms)
            least_B = np.max([reply.least_B for reply in replies], axis=0)
            for place, selected in zip(some.tolist(), found, strict=True):
                self._selected[int(questions[place])] = selected
            lacking = [not _is_whole(*each) for each in zip(found, least_B.tolist(), strict=True)]
            ask = then or ask
            some, aim = some[np.array(lacking, dtype=bool)], replace(aim, wanted=2 * aim.wanted, apart=2 * aim.apart)

    def _heads(self, query: ShardQuery, _: Ints) -> list[ShardHeads]:
        return list(self._session.ask_all("heads", query, check=self._check).values())

    def _candidates(self, questions: Ints, depth: int, effort: float) -> ChosenRows:
        query = self._query.take(questions, self._query.aim)
        ahead = 0
        if query.aim.unit == "phrase" and not query.identifiers:
            ahead = ahead_of(depth, len(self._session.asked), len(questions))
        replies = self._session.ask_all("proposals", query, depth, effort, ahead, check=self._check)
        return ChosenRows(replies, depth)

    def _sent_ahead(self, rows: ChosenRows, query: ShardQuery, _: Ints) -> list[ShardHeads]:
        """Around the chosen rows; shards are asked only where they have not sent it with their proposals."""
        heads, calls, lacking_of = list[ShardHeads](), {}, {}
        for shard, sent, lacking in rows.ahead():
            if sent is not None:
                heads.append(sent)
            elif query.identifiers:  # which add rows to those that are chosen
                lacking = np.arange(len(query.queries))
            if len(lacking):
                lacking_of[shard] = lacking
                calls[shard] = self._call_around(shard, rows, query.take(lacking, query.aim), lacking)
        found = self._session.ask("around", calls, self._check)
        return heads + [each.of_several(len(query.queries), lacking_of[shard]) for shard, each in found.items()]

    def _around(self, rows: ChosenRows, query: ShardQuery, some: Ints) -> list[ShardHeads]:
        calls = {shard: self._call_around(shard, rows, query, some) for shard in self._session.asked}
        return list(self._session.ask("around", calls, self._check).values())

    def _call_around(self, shard: int, rows: ChosenRows, query: ShardQuery, some: Ints) -> Arguments:
        starts, ends = rows.hits(some, self._first_segments[-1])
        own = slice(*self._first_segments[shard : shard + 2])
        return query, starts[own], ends[own]

    def _passages(self, keys: Sequence[int]) -> list[SentPassages]:
        of_shards: dict[int, list[int]] = {}
        for key in keys:
            shard = shard_of(self._first_segments, key >> PASSAGE_BITS)
            if shard not in self._session.failed:
                of_shards.setdefault(shard, []).append(key)
        calls = {shard: (several, bool(self._query.identifiers)) for shard, several in of_shards.items()}
        return list(self._session.ask("passages", calls, self._check).values())

    def _boundary_scores(self, rows: Rows, start_D: Floats, end_D: Floats) -> tuple[Floats, Floats]:
        owners = np.array([shard_of(self._first_segments, segment) for segment, _, _ in rows], dtype=np.int64)
        scores_2N = np.full((2, len(rows)), np.nan, dtype=np.float32)
        places = {shard: np.flatnonzero(owners == shard) for shard in set(owners.tolist()) - self._session.failed}
        calls = {shard: ([rows[place] for place in own.tolist()], start_D, end_D) for shard, own in places.items()}
        for shard, reply in self._session.ask("boundary_scores", calls, self._check).items():
            scores_2N[:, places[shard]] = reply
        return scores_2N[0], scores_2N[1]


def _is_whole(selected: Selection, least: float) -> bool:
    """Whether no phrase that was not sent can be among the results."""
    return least == -np.inf or (selected.enough and float(selected.results.score_N[-1]) >= least)
