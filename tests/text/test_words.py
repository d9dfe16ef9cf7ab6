"""Words and positions, against counting by str.split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densephrases.text.words import is_inside_word, is_phrase, skip_spaces, whole_words, word_numbers

ODD_TEXT = st.text(st.sampled_from("ab \t\n\u00a0\u3000\u2028\x1c\u200bé中\U0001d538\u0301"), max_size=40)


def brute_word(text: str, position: int) -> int:
    in_word = position < len(text) and not text[position].isspace()
    return len(text[: position + 1].split()) - 1 if in_word else len(text[:position].split())


def brute_skip(text: str, position: int) -> int:
    return next((p for p in range(position, len(text)) if not text[p].isspace()), len(text))


@pytest.mark.parametrize(
    ("text", "positions", "words"),
    [
        ("one two", [0, 2, 4, 6], [0, 0, 1, 1]),
        ("  one", [2, 4], [0, 0]),
        ("a\u00a0b\u3000c", [0, 2, 4], [0, 1, 2]),  # every Unicode space separates
        ("a\u200bb", [0, 1, 2], [0, 0, 0]),  # a zero-width space is none
        ("one two", [3], [1]),  # a space counts to the word after it
        (" a ", [0, 2, 3], [0, 1, 1]),  # and the end of the text to a word after the last
        ("", [0], [0]),
        ("", [], []),
    ],
)
def test_word_numbers(text: str, positions: list[int], words: list[int]) -> None:
    assert word_numbers(text, np.array(positions, dtype=np.int64)).tolist() == words


@given(ODD_TEXT)
def test_word_numbers_of_all_positions(text: str) -> None:
    positions = np.arange(len(text) + 1)
    assert word_numbers(text, positions).tolist() == [brute_word(text, p) for p in positions.tolist()]


@given(ODD_TEXT)
def test_skip_spaces_of_all_positions(text: str) -> None:
    positions = np.arange(len(text) + 1)
    assert skip_spaces(text, positions).tolist() == [brute_skip(text, p) for p in positions.tolist()]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("COBOL", [1, 2, 3, 4]),
        ("It ran", [1, 4, 5]),
        ("1707\u201308", [1, 2, 3, 6]),
        ("Lombardi's", [1, 2, 3, 4, 5, 6, 7]),
        ("re\u0301sume\u0301", [1, 2, 3, 4, 5, 6, 7]),  # accents of their own
        ("東京は", []),
        ("", []),
    ],
)
def test_where_a_cut_would_part_a_word(text: str, inside: list[int]) -> None:
    assert [position for position in range(-1, len(text) + 2) if is_inside_word(text, position)] == inside


@pytest.mark.parametrize(
    ("text", "start", "end", "expected"),
    [
        ("It ran.", 3, 6, True),
        ("It ran.", 3, 5, False),
        ("It ran.", 6, 7, False),
        ("It ran.", 2, 3, False),
        ("$ 5", 0, 3, True),
        ("東京は", 0, 2, True),
        ("is 5.\n\nB is", 3, 8, False),
        ("is 5.\r\n \r\nB is", 3, 11, False),
        ("is 5\nB is", 3, 6, True),
        ("", 0, 0, False),
    ],
)
def test_what_may_be_an_answer(text: str, start: int, end: int, expected: bool) -> None:
    assert is_phrase(text, start, end) == expected


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 3, "Ada"),
        (1, 2, "Ada"),
        (4, 9, "Lovelace"),
        (2, 5, "Ada Lovelace"),
        (3, 4, " "),
        (12, 12, ""),
        (13, 14, "中"),
    ],
)
def test_whole_words(start: int, end: int, expected: str) -> None:
    text = "Ada Lovelace.中文"
    assert text[slice(*whole_words(text, start, end))] == expected
