"""Features of contenders, against sums over plain sets and loops over pairs."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.search.ranking.contenders import Contenders
from densephrases.search.ranking.features import (
    FEATURES,
    PHRASE_FEATURES,
    SHARE_FEATURES,
    phrase_features,
    share_features,
)
from densephrases.search.scoring.lexical import QuestionTerms, TermWeights
from densephrases.text.hashed_terms import TERMS, terms
from densephrases.text.normalize import normalize_answer
from densephrases.text.searched_text import SearchedText

WORDS = ["Ada", "Lovelace", "wrote", "the", "The", "first", "program", "in", "London.", "It", "Ada,", "(Babbage)"]
IDF = TermWeights(np.random.default_rng(0).random(TERMS).astype(np.float32))


@st.composite
def several(draw: st.DrawFn) -> tuple[list[str], Contenders]:
    """Questions and contenders made by chance; a passage is one sentence or two."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    questions = [" ".join(random.choice(WORDS, size=4)) for _ in range(draw(st.integers(1, 3)))]
    passages = [[str(word) for word in random.choice(WORDS, size=random.integers(3, 30))] for _ in range(3)]
    edges, rows = [0], []
    for _ in questions:
        edges.append(edges[-1] + draw(st.integers(0, 5)))
        for _ in range(edges[-1] - edges[-2]):
            number = int(random.integers(len(passages)))
            rows.append((number, _span(passages[number], random)))
    numbers = [row[0] for row in rows]
    texts = [SearchedText(" ".join(words)) for words in passages]
    return questions, Contenders(
        np.array(edges),
        random.normal(size=len(rows)).astype(np.float32),
        random.random(len(rows)).astype(np.float32),
        np.array(numbers, dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64).reshape(-1, 2),
        [texts[number] for number in numbers],
        [SearchedText(f"Title {number} Ada") for number in numbers],
    )


def _span(words: list[str], random: np.random.Generator) -> tuple[int, int]:
    """Of a phrase of whole words."""
    begins = np.cumsum([0, *(len(word) + 1 for word in words)])
    first = int(random.integers(len(words)))
    last = int(random.integers(first, min(first + 4, len(words))))
    return begins[first], begins[last + 1] - 1


@given(several())
def test_terms_of_the_words_around(made: tuple[list[str], Contenders]) -> None:
    questions, contenders = made
    question_terms = QuestionTerms.from_questions(questions, IDF, 2.0)
    found = phrase_features(contenders, question_terms)
    assert found.shape == (len(contenders), len(PHRASE_FEATURES))
    for row, question in enumerate(contenders.question_N.tolist()):
        text, (start, end) = contenders.texts[row].text, contenders.spans_N2[row].tolist()
        first, last = contenders.sentences_N2[row].tolist()
        window = " ".join([*text[:start].split()[-8:], *text[end:].split()[:8]])
        around = [text[start:end], f"{text[first:start]} {text[end:last]}", window, contenders.titles[row].text]
        expected = [2 * sum(IDF.idf_V[t] for t in terms(questions[question]) & terms(each)) for each in around]
        assert found[row, 0] == contenders.lexical_N[row]
        np.testing.assert_allclose(found[row, 1:5], expected, rtol=1e-5, atol=1e-6)


def test_without_terms_only_boundaries_count() -> None:
    contenders = one_phrase("In May Ada Lovelace wrote", "Lovelace")
    assert phrase_features(contenders, None).tolist() == [[0, 0, 0, 0, 0, 1, 0]]


def one_phrase(text: str, phrase: str) -> Contenders:
    start = text.index(phrase)
    span = np.array([[start, start + len(phrase)]])
    number = np.zeros(1, dtype=np.int64)
    score = np.zeros(1, dtype=np.float32)
    return Contenders(np.array([0, 1]), score, score, number, span, [SearchedText(text)], [SearchedText("")])


@pytest.mark.parametrize(
    ("text", "phrase", "before", "after"),
    [
        ("She met Ada Lovelace in May", "Ada", False, True),
        ("She met Ada Lovelace in May", "Lovelace", True, False),
        ("She met Ada Lovelace in May", "Ada Lovelace", False, False),
        ("She met Ada Lovelace in May", "met", False, False),
        ("In London it rained", "London", False, False),  # a stop word is no part of a name
        ("Ada, Babbage and The Hague", "Babbage", False, False),
        ("Ada, Babbage and The Hague", "Hague", False, False),
        ("the poet Lord Byron wrote", "poet Lord", False, True),
        ("Ada", "Ada", False, False),
    ],
)
def test_half_a_name(text: str, phrase: str, before: bool, after: bool) -> None:
    found = phrase_features(one_phrase(text, phrase), None)[0].tolist()
    assert found[PHRASE_FEATURES.index("cut_before")] == before
    assert found[PHRASE_FEATURES.index("cut_after")] == after


@given(several(), st.sampled_from([0.5, 1.0, 4.0]))
def test_shares_of_other_phrases(made: tuple[list[str], Contenders], temperature: float) -> None:
    contenders = made[1]
    found = share_features(contenders, temperature)
    assert found.shape == (len(contenders), len(SHARE_FEATURES))
    for row, question in enumerate(contenders.question_N.tolist()):
        others = range(*contenders.edges_B[question : question + 2].tolist())
        share = {other: math.exp(float(contenders.score_N[other]) / temperature) for other in others}
        overlap = sum(share[other] for other in others if _overlap(contenders, row, other)) / sum(share.values())
        same = sum(share[other] for other in others if _text(contenders, other) == _text(contenders, row))
        np.testing.assert_allclose(found[row], [math.log(overlap), math.log(same / share[row])], atol=1e-9)


def _overlap(contenders: Contenders, one: int, other: int) -> bool:
    (a, b), (c, d) = contenders.spans_N2[[one, other]].tolist()
    return bool(contenders.passage_N[one] == contenders.passage_N[other] and set(range(a, b)) & set(range(c, d)))


def _text(contenders: Contenders, row: int) -> str:
    return normalize_answer(contenders.phrase_texts[row])


@given(several())
def test_each_question_by_itself(made: tuple[list[str], Contenders]) -> None:
    questions, contenders = made
    question_terms = QuestionTerms.from_questions(questions, IDF, 1.0)
    together = _all_features(contenders, question_terms)
    for number in range(len(questions)):
        here = slice(*contenders.edges_B[number : number + 2].tolist())
        alone = Contenders(
            np.array([0, here.stop - here.start]),
            *(getattr(contenders, each.name)[here] for each in fields(Contenders)[1:]),
        )
        np.testing.assert_array_equal(_all_features(alone, question_terms.take(np.array([number]))), together[here])


def _all_features(contenders: Contenders, question_terms: QuestionTerms) -> Any:
    return np.concatenate([phrase_features(contenders, question_terms), share_features(contenders, 2.0)], axis=1)


def test_names_are_unique() -> None:
    assert len(set(FEATURES)) == len(FEATURES)
