"""Shards answer as one machine does, whatever is asked."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, get_args
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.cluster.sharding import shard, shard_retrieval
from densephrases.cluster.sharding.shard_retriever import ShardCatalog, ShardRetriever
from densephrases.cluster.sharding.shards import ShardSession
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import SearchRequest, Unit
from densephrases.search.scoring import pairs
from densephrases.search.searcher import Searcher
from tests.cluster.sharding.in_process import ShardsInProcess, split
from tests.search.made_up import MemoryIndex, indexes
from tests.search.test_searcher import CALIBRATION, QUESTIONS, QuestionEncoder

RANKING = PhraseRanking({"sentence": 0.5, "overlap": 0.25, "lexical": 0.125})


def sharded(index: MemoryIndex, parts: int, *settings: Any) -> Searcher:
    shards = ShardsInProcess(split(index, parts))
    return Searcher(ShardRetriever(ShardCatalog(shards), ShardSession(shards)), *settings)


@contextmanager
def few(candidates: int) -> Iterator[None]:
    """Made-up collections are small: fewer candidates than usual leave some of their rows out, 0 leaves none.

    Fewer phrases are sent, and with passages of one or none for each result.
    """
    with ExitStack() as patches:
        if candidates:
            for module in (pairs, shard_retrieval):
                patches.enter_context(patch.object(module, "first_depth", lambda *_: candidates))
            patches.enter_context(patch.object(shard, "PHRASES_PER_RESULT", 1))
            patches.enter_context(patch.object(shard, "SHOWN_PER_RESULT", candidates % 2))
        yield


@settings(max_examples=400)
@given(
    st.booleans().flatmap(lambda hide: indexes(hide=hide)),
    st.lists(QUESTIONS, min_size=1, max_size=3),
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0]),
    st.builds(
        SearchRequest,
        k=st.integers(1, 12),
        unit=st.sampled_from(get_args(Unit)),
        overlapping=st.booleans(),
        exact=st.sampled_from([None, False, True]),
        effort=st.sampled_from([0.0, 0.5]),
        where=st.sampled_from([None, {"lang": "en"}, {"year": ["1", 2]}]),
        documents=st.sampled_from([None, ("0-0", "1-0", "1-1")]),
        explain=st.booleans(),
    ),
    st.sampled_from([None, RANKING]),
    st.sampled_from([0, 1, 2, 5]),
)
def test_shards_answer_as_one_machine(
    index: MemoryIndex,
    questions: list[str],
    parts: int,
    weight: float,
    request: SearchRequest,
    ranking: PhraseRanking | None,
    candidates: int,
) -> None:
    encoder = QuestionEncoder(lexical_weight=weight, length_penalty=0.25)
    whole = Searcher.from_snapshot(index, encoder, CALIBRATION, ranking)
    with few(candidates):
        expected = whole.search(questions, request)
        assert sharded(index, parts, encoder, CALIBRATION, ranking).search(questions, request) == expected


@given(indexes(hide=True), QUESTIONS)
def test_without_the_passages_of_a_shard_there_are_answers_of_the_others(index: MemoryIndex, question: str) -> None:
    parts = split(index, 2)
    session = ShardSession(ShardsInProcess(parts, {"passages": {0}}), allow_partial=True)
    catalog = ShardCatalog(ShardsInProcess(parts))
    searcher = Searcher(ShardRetriever(catalog, session), QuestionEncoder(lexical_weight=1.0, length_penalty=0.25))
    with few(2):
        (answers,) = searcher.search([question], SearchRequest(exact=False, effort=0.5))
    asked_in_vain = not session.complete
    of_failed = {title for title, _ in catalog.of_shards[0].titles}
    assert not (asked_in_vain and of_failed & {answer.document.id for answer in answers})
