"""The final ranking of results, against sums of weight x feature and a plain sort."""

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.errors import ConfigError
from densephrases.search.answers import Answer
from densephrases.search.confidence import Calibration
from densephrases.search.ranking.contenders import CONTENDERS
from densephrases.search.ranking.features import FEATURES, phrase_features, share_features
from densephrases.search.ranking.linear import PhraseRanking
from densephrases.search.request import SearchRequest, Unit
from densephrases.search.searcher import Searcher
from tests.search.made_up import MemoryIndex, SegmentMaker, indexes
from tests.search.test_searcher import QuestionEncoder

QUESTIONS = ["a Ada", "b wrote code", "c the 1843", "d"]
RANKING = PhraseRanking({name: (-1) ** place * (0.5 + place / 8) for place, name in enumerate(FEATURES)}, 2.0)
MANY = Calibration(-1.0, 0.1, 0.3, 0.5)


def place(answer: Answer) -> tuple[Any, ...]:
    return answer.document.id, answer.phrase.start, answer.phrase.end, answer.start, answer.end


def searchers(index: MemoryIndex, calibration: Calibration | None = None) -> tuple[Searcher, Searcher]:
    """Without and with a ranking."""
    encoder = QuestionEncoder(lexical_weight=1.0, length_penalty=0.125)
    return Searcher.from_snapshot(index, encoder, calibration), Searcher.from_snapshot(
        index, encoder, calibration, RANKING
    )


@given(indexes(), st.sampled_from(get_args(Unit)), st.integers(1, 30))
def test_the_first_are_sorted_again(index: MemoryIndex, unit: Unit, k: int) -> None:
    plain, ranked = searchers(index)
    for question in QUESTIONS:
        (before,) = plain.search([question], SearchRequest(k=max(k, CONTENDERS), unit=unit, overlapping=True))
        (after,) = ranked.search([question], SearchRequest(k=k, unit=unit, overlapping=True))
        contenders, terms = plain.contenders([question], SearchRequest(unit=unit))
        features = np.concatenate([phrase_features(contenders, terms), share_features(contenders, 2.0)], axis=1)
        weights = np.array([RANKING.weights[name] for name in FEATURES])
        scores = [float(a.score + row @ weights) for a, row in zip(before, features, strict=False)]
        assert len(after) == min(k, len(before))
        by_place = {place(a): score for a, score in zip(before, scores, strict=False)}
        head = after[:CONTENDERS]
        np.testing.assert_allclose([a.score for a in head], [by_place[place(a)] for a in head], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose([a.score for a in head], sorted(scores, reverse=True)[: len(head)], atol=1e-5)
        assert list(map(place, after[CONTENDERS:])) == list(map(place, before[CONTENDERS:k]))
        assert [a.score for a in after] == sorted((a.score for a in after), reverse=True)


@given(indexes(), st.sampled_from(get_args(Unit)), st.sampled_from([None, {"lang": "en"}]))
def test_the_same_alone_or_in_a_batch_and_for_any_k(index: MemoryIndex, unit: Unit, where: Any) -> None:
    _, ranked = searchers(index, MANY)
    together = ranked.search(QUESTIONS, SearchRequest(k=25, unit=unit, where=where, overlapping=True))
    for question, answers in zip(QUESTIONS, together, strict=True):
        (alone,) = ranked.search([question], SearchRequest(k=3, unit=unit, where=where, overlapping=True))
        assert alone == answers[:3]


def test_without_overlap_of_terms_vectors_alone_are_ranked() -> None:
    index = MemoryIndex([_segment(["Ada wrote the first code", "the code ran"])], [None])
    _, ranked = searchers(index)
    contenders, terms = ranked.contenders(QUESTIONS, SearchRequest(lexical_weight=0.0))
    assert terms is None
    assert not phrase_features(contenders, terms)[:, :5].any()
    assert ranked.search(QUESTIONS, SearchRequest(lexical_weight=0.0))[0]


def _segment(passages: Sequence[str]) -> Any:
    maker = SegmentMaker(np.random.default_rng(0), keep=1.0)
    maker.add("d", [passage.split() for passage in passages], {})
    return maker.made()


def test_nothing_found_is_nothing_ranked() -> None:
    _, ranked = searchers(MemoryIndex([], []))
    assert ranked.search(QUESTIONS, SearchRequest()) == [[]] * len(QUESTIONS)


def test_weights_survive_the_configuration() -> None:
    assert PhraseRanking.from_dict(RANKING.to_dict()) == RANKING
    assert PhraseRanking.from_dict({"title": 1}) == PhraseRanking({"title": 1.0}, 1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"titel": 1.0}, "'titel' is no feature of a ranking; expected some of temperature, lexical"),
        ({"title": "much"}, "title='much' of a ranking is not a number"),
        ({"title": float("nan")}, "title=nan"),
        ({"title": True}, "title=True"),
        ({"temperature": 0.0}, "temperature=0.0 of a ranking is not a positive number"),
    ],
)
def test_impossible_weights_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PhraseRanking.from_dict(values)
