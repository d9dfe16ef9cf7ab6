"""What is chosen of proposals, and what of it was sent ahead."""

import numpy as np

from densephrases.arrays import Ints, Mask
from densephrases.cluster.sharding.chosen_rows import ChosenRows, ahead_of
from densephrases.cluster.sharding.messages import SentPassages, ShardHeads, ShardProposals
from densephrases.search.scoring.candidates import Proposals

NO_PASSAGES = SentPassages(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), [], [], {}, None)


def test_a_few_questions_are_answered_ahead() -> None:
    assert ahead_of(50, shards=1, questions=1) == 50
    assert ahead_of(50, shards=4, questions=1) == 75
    assert ahead_of(50, shards=4, questions=64) == 0


def reply(segment: int, scores: list[float], ahead: int, phrases: list[tuple[int, int]]) -> ShardProposals:
    """One question, with the same scores of rows as starts and as ends; some of them are looked around."""
    scores_BK = np.array([scores, scores], dtype=np.float32)
    rows_BK = np.tile(np.arange(len(scores)), (2, 1))
    proposals = Proposals(rows_BK, scores_BK, np.full(len(scores), segment), None)
    ahead_BK: Mask = proposals.best(ahead) if ahead else np.zeros(rows_BK.shape, dtype=bool)
    return ShardProposals(proposals, ahead_BK, heads(segment, phrases) if ahead else None)


def heads(segment: int, phrases: list[tuple[int, int]]) -> ShardHeads:
    columns: Ints = np.array(phrases, dtype=np.int64).reshape(-1, 2)
    zeros = np.zeros(len(phrases), dtype=np.int64)
    return ShardHeads(
        edges_B=np.array([0, len(phrases)]),
        segment_N=zeros + segment,
        start_N=columns[:, 0],
        end_N=columns[:, 1],
        score_N=zeros.astype(np.float32),
        passage_N=zeros,
        spans_N2=np.zeros((len(phrases), 2), dtype=np.int64),
        lexical_N=zeros.astype(np.float32),
        least_B=np.array([0.5]),
        passages=NO_PASSAGES,
    )


def test_only_phrases_around_chosen_rows_count() -> None:
    """Of rows 5, 4, 3 and 2 the best two are chosen: the first row of both shards."""
    first = reply(0, [5, 2], 2, [(0, 0), (0, 1), (1, 1)])
    second = reply(3, [4, 3], 2, [(1, 1), (0, 1)])
    (_, of_first, asked_first), (_, of_second, asked_second) = ChosenRows({0: first, 1: second}, 2).ahead()
    assert of_first is not None
    assert of_second is not None
    assert list(zip(of_first.start_N, of_first.end_N, strict=True)) == [(0, 0), (0, 1)]
    assert list(zip(of_second.start_N, of_second.end_N, strict=True)) == [(0, 1)]
    assert of_first.edges_B.tolist() == [0, 2]
    assert [of_first.least_B[0], of_second.least_B[0]] == [0.5, 0.5]
    assert len(asked_first) == len(asked_second) == 0


def test_a_shard_that_looked_around_too_few_rows_is_asked() -> None:
    """Both chosen rows are those of the first shard, which had looked around one of them."""
    first, second = reply(0, [5, 4], 1, [(0, 0)]), reply(3, [2, 1], 1, [(0, 0)])
    rows = ChosenRows({0: first, 1: second}, 2)
    (_, of_first, asked_first), (_, of_second, asked_second) = rows.ahead()
    assert of_first is not None
    assert of_second is not None
    assert len(of_first.start_N) == len(of_second.start_N) == 0
    assert of_first.least_B.tolist() == [-np.inf]
    assert (asked_first.tolist(), asked_second.tolist()) == ([0], [])
    starts, _ = rows.hits(np.array([0]), 4)
    assert [each.row_H.tolist() for each in starts] == [[0, 1], [], [], []]


def test_nothing_was_sent_ahead() -> None:
    ((shard, sent, asked),) = ChosenRows({2: reply(0, [5, 4], 0, [])}, 1).ahead()
    assert (shard, sent, asked.tolist()) == (2, None, [0])


def test_a_reply_to_some_questions() -> None:
    several = heads(0, [(1, 2)]).of_several(3, np.array([1]))
    assert several.edges_B.tolist() == [0, 0, 1, 1]
    assert several.least_B.tolist() == [-np.inf, 0.5, -np.inf]
