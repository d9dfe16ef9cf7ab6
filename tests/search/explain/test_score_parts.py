"""Explanations: their parts add up to the score, and say what of the question stands around the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.answers import Answer
from densephrases.search.explain.evidence import Evidence
from densephrases.search.explain.explanation import Explanation
from densephrases.search.ranking.contenders import CONTENDERS
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import SearchRequest
from densephrases.search.searcher import Searcher
from tests.search.made_up import MemoryIndex, indexes
from tests.search.test_searcher import QUESTIONS, QuestionEncoder

RANKING = PhraseRanking({"sentence": 2.0, "cut_before": -3.0})


@given(indexes(), st.lists(QUESTIONS, min_size=1, max_size=3), st.sampled_from([None, RANKING]), st.booleans())
def test_parts_add_up_to_the_score(
    index: MemoryIndex, questions: list[str], ranking: PhraseRanking | None, overlapping: bool
) -> None:
    searcher = Searcher.from_snapshot(index, QuestionEncoder(lexical_weight=1.0), ranking=ranking)
    unranked = Searcher.from_snapshot(index, QuestionEncoder(lexical_weight=1.0))
    plain = unranked.search(questions, SearchRequest(k=100, overlapping=True))
    request = SearchRequest(k=5, explain=True, overlapping=overlapping)
    for before, answers in zip(plain, searcher.search(questions, request), strict=True):
        places = list(map(place, before))
        for answer in answers:
            why = answer.explanation
            assert why is not None
            assert why.start + why.end - why.penalties + why.ranking == pytest.approx(answer.score, abs=1e-3)
            assert (why.ranking == 0) or ranking is not None
            if overlapping or why.rank <= CONTENDERS:
                assert places[why.rank - 1] == place(answer)
            else:  # phrases after the first 20 that overlap better ones have no place
                assert place(answer) not in places[: why.rank - 1]


def place(answer: Answer) -> tuple[str, int, int]:
    return answer.document.id, answer.start, answer.end


@given(indexes())
def test_only_if_asked_for(index: MemoryIndex) -> None:
    (answers,) = Searcher.from_snapshot(index, QuestionEncoder()).search(["a b"], SearchRequest())
    assert all(answer.explanation is None and "explanation" not in answer.to_dict() for answer in answers)


def test_as_a_line_and_as_data() -> None:
    why = Explanation(
        start=10.04, end=9.0, penalties=2.0, ranking=1.5, rank=3, reader=4.0, matched=("capital",), missing=("France",)
    )
    assert str(why) == (
        "start 10.0, end 9.0, penalties -2.0, ranking +1.5, reader 4.0; found at place 3; has capital; lacks France"
    )
    assert why.to_dict()["missing"] == ["France"]
    bare = Explanation(start=1.0, end=1.0, penalties=0.0, ranking=0.0, rank=1, evidence=Evidence(1.0, 1.0, 0.0))
    assert str(bare).endswith("has no word of the question")
    assert bare.to_dict()["evidence"] == {"missing": 1.0, "unstated": 1.0, "names": 0.0, "unknown": 0.0}
