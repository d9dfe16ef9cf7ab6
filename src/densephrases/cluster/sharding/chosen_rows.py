"""The candidate rows that are chosen among those of all shards, and what shards have sent ahead around them."""

from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.cluster.sharding.messages import ShardHeads, ShardProposals
from densephrases.search.scoring.candidates import Proposals, row_keys
from densephrases.search.scoring.windows import Hits

_AHEAD_QUESTIONS = 8  # at once; with more, a second call costs less than what is computed in vain
_AHEAD_OF_COUNT = 1.5  # the best rows are often those of one shard, and lexical penalties change their order

# Shape suffixes: B questions, K columns of proposals, N phrases of all questions.


def ahead_of(count: int, shards: int, questions: int) -> int:
    """Rows of a question that a shard expects to be chosen, if `count` are chosen in all."""
    if questions > _AHEAD_QUESTIONS:
        return 0
    return count if shards == 1 else int(_AHEAD_OF_COUNT * count)


class ChosenRows:
    """The candidate rows of some questions, in all shards that have answered."""

    def __init__(self, replies: Mapping[int, ShardProposals], count: int) -> None:
        self._replies = replies
        self._proposals = Proposals.joined([reply.proposals for reply in replies.values()])
        self._chosen_BK = self._proposals.best(count)
        self.short_B = self._proposals.short(self._chosen_BK, count)

    def hits(self, questions: Ints, segments: int) -> tuple[list[Hits], list[Hits]]:
        """The starts and the ends of each segment, for some of the questions."""
        both = np.concatenate([questions, questions + self._proposals.questions])
        return self._proposals.take(both).hits(self._chosen_BK[both], segments)

    def ahead(self) -> Iterator[tuple[int, ShardHeads | None, Ints]]:
        """Of each shard what it has sent around chosen rows, and the questions that it has to be asked yet."""
        edges = [0, *accumulate(len(reply.proposals.segment_K) for reply in self._replies.values())]
        for (shard, reply), columns in zip(self._replies.items(), pairwise(edges), strict=True):
            chosen_BK = self._chosen_BK[:, slice(*columns)]
            lacking_B = np.asarray((chosen_BK & ~reply.ahead_BK).any(axis=1).reshape(2, -1).any(axis=0))
            sent = None if reply.heads is None else _around_chosen(reply.heads, reply.proposals, chosen_BK, lacking_B)
            yield shard, sent, np.flatnonzero(lacking_B)


def _around_chosen(heads: ShardHeads, proposals: Proposals, chosen_BK: Mask, lacking_B: Mask) -> ShardHeads:
    """The phrases that start or end at a chosen row, of the questions that lack none."""
    key_BK = row_keys(proposals.segment_K, proposals.rows_BK)
    start_N, end_N = (row_keys(heads.segment_N, row_N) for row_N in (heads.start_N, heads.end_N))
    wanted_N = np.zeros(len(start_N), dtype=bool)
    for question in np.flatnonzero(~lacking_B).tolist():
        own = slice(*heads.edges_B[question : question + 2].tolist())
        starts, ends = (key_BK[half][chosen_BK[half]] for half in (question, question + proposals.questions))
        wanted_N[own] = np.isin(start_N[own], starts) | np.isin(end_N[own], ends)
    return heads.where(wanted_N).without_bound(lacking_B)
