"""Shards answer as one machine does, whatever is asked."""

from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from densephrases.cluster.sharding.shard_retriever import ShardCatalog, ShardRetriever
from densephrases.cluster.sharding.shards import ShardSession
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import SearchRequest, Unit
from densephrases.search.searcher import Searcher
from tests.cluster.sharding.in_process import ShardsInProcess, split
from tests.search.made_up import MemoryIndex, indexes
from tests.search.test_searcher import CALIBRATION, QUESTIONS, QuestionEncoder

RANKING = PhraseRanking({"sentence": 0.5, "overlap": 0.25, "lexical": 0.125})


def sharded(index: MemoryIndex, parts: int, *settings: Any) -> Searcher:
    shards = ShardsInProcess(split(index, parts))
    return Searcher(ShardRetriever(ShardCatalog(shards), ShardSession(shards)), *settings)


@settings(max_examples=150)
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
)
def test_shards_answer_as_one_machine(
    index: MemoryIndex,
    questions: list[str],
    parts: int,
    weight: float,
    request: SearchRequest,
    ranking: PhraseRanking | None,
) -> None:
    encoder = QuestionEncoder(lexical_weight=weight, length_penalty=0.25)
    whole = Searcher.from_snapshot(index, encoder, CALIBRATION, ranking)
    assert sharded(index, parts, encoder, CALIBRATION, ranking).search(questions, request) == whole.search(
        questions, request
    )
