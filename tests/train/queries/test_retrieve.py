"""Looking up question vectors: the same as a search, with the vectors the index holds."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases import Document, PhraseIndex
from densephrases.data.matching.gold_answers import gold_answers_of
from densephrases.data.questions import OpenQuestion
from densephrases.search.scoring.windows import Queries
from densephrases.train.queries.relevance import UNITS
from densephrases.train.queries.retrieve import Found, Lookup, LookupSettings, default_processes, spread_lookup
from densephrases.train.queries.target import Target
from tests.index.made_up import HashEncoder, long_text

ASKED = [
    OpenQuestion(str(number), text, ("paris", "the river"))
    for number, text in enumerate(["where is the river", "who was born in london", "what", "a year of title 3"])
]


@pytest.fixture(scope="module", params=[0.0, 0.5], ids=["without words", "with words"])
def index(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> PhraseIndex:
    """Of two segments, with a deleted document."""
    texts = [Document(f"d{number}", long_text(number, 120), f"title {number}") for number in range(7)]
    encoder = HashEncoder(length_penalty=0.01, lexical_weight=request.param)
    made = PhraseIndex.create(tmp_path_factory.mktemp("index"), texts[:5], model=encoder)
    made.add(texts[5:])
    made.delete(["d1"])
    return made


def queries(index: PhraseIndex) -> Queries:
    vectors = index.encoder.encode_questions([asked.text for asked in ASKED])
    return Queries(vectors.start_BD, vectors.end_BD)


def settings_of(index: PhraseIndex, target: Target = "phrase") -> LookupSettings:
    weight = index.encoder.config.lexical_weight
    return LookupSettings(target=target, length_penalty=0.01, lexical_weight=weight, max_words=4)


def looked_up(index: PhraseIndex, k: int, target: Target = "phrase") -> tuple[Lookup, Found]:
    lookup = Lookup(index.folder, settings_of(index, target))
    return lookup, lookup(queries(index), ASKED, k)


@pytest.mark.parametrize("target", ["phrase", "passage", "document"])
@pytest.mark.parametrize("k", [1, 30, 1000])
def test_finds_what_a_search_finds(index: PhraseIndex, k: int, target: Target) -> None:
    _, found = looked_up(index, k, target)
    answers = index.search([asked.text for asked in ASKED], k, unit=UNITS[target], overlapping=True)
    assert found.segment_QK.shape == (len(ASKED), k)
    for row, expected in enumerate(answers):
        there = found.segment_QK[row] >= 0
        assert there.sum() == len(expected)
        np.testing.assert_allclose(found.score_QK[row][there], [answer.score for answer in expected], rtol=1e-5)
        lengths = [len(answer.phrase.text) for answer in expected]
        np.testing.assert_array_equal(found.length_QK[row][there], lengths)
        if target == "phrase":
            right = [gold_answers_of(ASKED[row], 4).right(answer.text) for answer in expected]
            np.testing.assert_array_equal(found.right_QK[row][there], right)
            assert k < 1000 or any(right)
        assert not found.right_QK[row][~there].any()


def test_vectors_are_those_of_the_store(index: PhraseIndex) -> None:
    """Their inner products with the question, less the penalties for length and lacking words, are the scores."""
    lookup, found = looked_up(index, 40)
    start_QKD, end_QKD = lookup.vectors(found)
    asked = queries(index)
    scores_QK = np.einsum("qd,qkd->qk", asked.start_BD, start_QKD) + np.einsum("qd,qkd->qk", asked.end_BD, end_QKD)
    there_QK = found.segment_QK >= 0
    scores_QK -= found.penalty_QK + 0.01 * found.length_QK
    np.testing.assert_allclose(scores_QK[there_QK], found.score_QK[there_QK], atol=1e-4)
    assert found.penalty_QK.any() == (index.encoder.config.lexical_weight > 0)
    assert not found.penalty_QK[~there_QK].any()
    assert not start_QKD[~there_QK].any()


def test_several_processes_find_the_same(index: PhraseIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("densephrases.train.queries.retrieve._LEAST_AT_ONCE", 1)
    _, expected = looked_up(index, 20)
    with spread_lookup(index.folder, settings_of(index), 2) as look_up:
        found = look_up(queries(index), ASKED, 20)
        assert len(look_up(queries(index).take(np.zeros(0, dtype=np.int64)), [], 20)) == 0
    for name in ("segment_QK", "start_QK", "end_QK", "length_QK", "penalty_QK", "right_QK"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(found.score_QK, expected.score_QK, rtol=1e-5)


def test_processes_by_the_size_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, processes in ((None, 1), (2, 1), (4, 1), (16, 16)):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        assert default_processes() == processes


def test_an_empty_index(tmp_path: Path) -> None:
    made = PhraseIndex.create(tmp_path, [], model=HashEncoder())
    lookup, found = looked_up(made, 3)
    assert not found.hit_Q.any()
    assert lookup.vectors(found)[0].shape == (len(ASKED), 3, 0)


@given(st.lists(st.integers(0, 3), max_size=6))
def test_parts_make_the_whole(sizes: list[int]) -> None:
    parts = [Found.empty(size, 2) for size in sizes]
    for number, part in enumerate(parts):
        part.start_QK[:] = number
    whole = Found.concatenate([*parts, Found.empty(0, 2)])
    assert whole.start_QK[:, 0].tolist() == [number for number, size in enumerate(sizes) for _ in range(size)]
    assert len(whole.take(np.arange(len(whole))[::-1])) == len(whole)
