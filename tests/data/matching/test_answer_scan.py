"""Which answers stand in a text, against trying all its phrases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.data.matching import answer_scan as occurrences
from densephrases.data.matching.answer_scan import AnswerScanner, PatternScanner, first_words
from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.text.normalize import normalize_answer
from densephrases.text.words import is_inside_word

PIECES = [
    "Paris",
    "paris",
    "the",
    "The",
    "a",
    "an",
    "b",
    "-",
    "\u2013",
    "'s",
    ".",
    ",",
    " ",
    " ",
    " ",
    "\n",
    "é",
    "中",
    "Σ",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
ANSWERS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)


def phrases(text: str) -> list[str]:
    cuts = [position for position in range(len(text) + 1) if not is_inside_word(text, position)]
    return [text[start:end] for start in cuts for end in cuts if start < end and text[start:end].strip()]


def found_in(answers: list[str], *texts: str) -> set[int]:
    scanner = AnswerScanner(enumerate(answers))
    for text in texts:
        scanner.scan(text)
    return scanner.found


@given(st.lists(ANSWERS, max_size=4), TEXTS)
def test_like_trying_all_phrases(answers: list[str], text: str) -> None:
    forms = {normalize_answer(phrase) for phrase in phrases(text)}
    assert found_in(answers, text) == {n for n, answer in enumerate(answers) if normalize_answer(answer) in forms}


@given(st.lists(ANSWERS, max_size=4), st.lists(TEXTS, max_size=4))
def test_texts_are_apart_from_each_other(answers: list[str], texts: list[str]) -> None:
    assert found_in(answers, *texts) == {n for text in texts for n in found_in(answers, text)}


@pytest.mark.parametrize(
    ("answer", "text", "stands"),
    [
        ("Paris", "a Paris-based firm", True),
        ("Paris-based", "a Paris-based firm", True),
        ("based firm", "a Paris-based firm", True),
        ("The firm", "a firm.", True),
        ("1914", "1914\u20131918", True),
        ("aris", "Paris", False),
        ("King of the Hill", "the king of a hill", True),
        ("New York", "New Yorker", False),
        ("New York", "new, York's", True),
        ("中国", "在中国的", True),
    ],
)
def test_examples(answer: str, text: str, stands: bool) -> None:
    assert bool(found_in([answer], text)) is stands


def test_forgetting_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "_CACHED_WORDS", 2)
    text = "of all the towns of the north New York is of them all the largest"
    assert found_in(["New York is", "largest", "the south"], text) == {0, 1}


def scan_patterns(patterns: list[str], *texts: str, max_words: int = 4) -> set[int]:
    scanner = PatternScanner([(n, PatternAnswer(pattern)) for n, pattern in enumerate(patterns)], max_words)
    scanner.scan(texts)
    return scanner.found


@pytest.mark.parametrize(
    ("pattern", "text", "stands"),
    [
        ("Belgians?|Belgium", "made in belgium", True),
        ("gium", "made in Belgium", False),  # no phrase begins within a word
        ("gium", "Belgium, gium", True),
        ("one.*four", "one two three four", True),
        ("one.*five", "one two three four five", False),  # no phrase is so long
        ("[0-9]+", "in 1889", True),
    ],
)
def test_patterns(pattern: str, text: str, stands: bool) -> None:
    assert bool(scan_patterns([pattern], "another text", text)) is stands


@given(st.sampled_from(["par", "paris|b", "b.*a", "a$", "the? a", "é+"]), st.lists(TEXTS, max_size=3))
def test_patterns_like_trying_all_phrases(pattern: str, texts: list[str]) -> None:
    answer = PatternAnswer(pattern)
    short = [p for text in texts for p in phrases(text) if len(p.split()) <= 4]
    if scan_patterns([pattern], *texts):
        assert any(answer.matches(phrase) for phrase in short)
    elif not pattern.endswith("$"):  # ends of lines are judged by the longest phrase
        assert not any(answer.matches(phrase.rstrip()) for phrase in short if not phrase[0].isspace())


def test_first_words() -> None:
    assert first_words("one two  three", 0, 2) == "one two"
    assert first_words("one two  three", 4, 5) == "two  three"
    assert first_words("", 0, 5) == ""
