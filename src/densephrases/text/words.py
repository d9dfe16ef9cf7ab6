"""Words, which measure the length of a phrase and bound where it may begin and end."""

import re
import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_IS_SPACE = np.array([chr(code).isspace() for code in range(0x3002)])  # no later character is a space

# Scripts without spaces between words, or with several words in one: Thai to Lao, Burmese, Khmer, kana and Chinese
# characters, Korean syllables, further Chinese ones.
UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x2E80, 0x9FFF),
    (0xAC00, 0xFAFF),
    (0x20000, 0x3FFFF),
)


def is_phrase(text: str, start: int, end: int) -> bool:
    """Whether the span begins and ends at word boundaries, has a letter or digit, and is of one paragraph."""
    whole = not is_inside_word(text, start) and not is_inside_word(text, end)
    return whole and any(map(str.isalnum, text[start:end])) and not has_blank_line(text, start, end)


def has_blank_line(text: str, start: int, end: int) -> bool:
    """Whether a blank line, which parts paragraphs, is in the span."""
    return text.find("\n", start, end) >= 0 and _BLANK_LINE.search(text, start, end) is not None


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The span extended to whole words."""
    while is_inside_word(text, start):
        start -= 1
    while is_inside_word(text, end):
        end += 1
    return start, end


def is_inside_word(text: str, position: int) -> bool:
    """Whether letters or digits of one word stand on both sides; never in scripts without spaces."""
    return 0 < position < len(text) and _joins(text[position - 1]) and _joins(text[position])


@lru_cache(1 << 12)
def _joins(character: str) -> bool:
    code = ord(character)
    if any(first <= code <= last for first, last in UNSPACED):
        return False
    return character.isalnum() or unicodedata.category(character).startswith("M")


def word_numbers(text: str, positions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The number of the word, counted from 0, in which each character position lies.

    A word is a run of non-space characters. Space, which tokenizers put into tokens, belongs to the word after it,
    and so does the end of the text.
    """
    space = np.append(_spaces(text), True)
    begins = ~space
    begins[1:] &= space[:-1]
    return np.asarray((np.cumsum(begins) - ~space)[positions], dtype=np.int64)


def skip_spaces(text: str, positions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The first non-space character at or after each position, or the end of the text."""
    visible = np.append(np.flatnonzero(~_spaces(text)), len(text))
    return np.asarray(visible[np.searchsorted(visible, positions)], dtype=np.int64)


def _spaces(text: str) -> NDArray[np.bool_]:
    codes = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype=np.uint32)
    return np.asarray(_IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)])
