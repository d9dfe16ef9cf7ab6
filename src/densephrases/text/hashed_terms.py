"""Words as numbers, by which questions and passages are compared: few bits, so that an index can keep all of them."""

import re
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import normalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from densephrases.text.words import UNSPACED

TERMS = 1 << 16

# Endings say little: on SQuAD the first six letters find as much as what a stemmer leaves, in any language.
_LETTERS = 6
_WORDS_KEPT = 1 << 17  # in memory, with their numbers: a few megabytes

_ALONE = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
_BORDER = "\0"
_WORD_OR_BORDER = re.compile(rf"{_BORDER}|{_WORD.pattern}")
# What questions are asked with and sentences are held together by. Left out for its bytes, a fifth of all.
_IDLE_WORDS = """a an and are as at be been but by did do does for from had has have he her his how if in into is it its
no not of on or she such that the their then there these they this to was were what when where which who whom whose why
will with"""
_IDLE = frozenset(_IDLE_WORDS.split())
_NONE = -1  # the number of idle words and of borders


def terms(text: str) -> set[int]:
    """The numbers of a text's words, below `TERMS`. Unequal words may share one."""
    numbers = set(map(_number, set(_WORD.findall(_lowered(text)))))
    numbers.discard(_NONE)
    return numbers


def terms_of_each(texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of a text and a term, for each of its words: for many short texts at once much faster."""
    joined = _BORDER.join(text.replace(_BORDER, " ") for text in texts)
    found = _WORD_OR_BORDER.findall(_lowered(joined))
    text_N = np.cumsum(np.fromiter((word == _BORDER for word in found), np.int64, len(found)))
    term_N = np.fromiter(map(_number, found), np.int64, len(found))
    counted_N = term_N != _NONE
    return text_N[counted_N], term_N[counted_N]


def _lowered(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", text).lower()


@lru_cache(_WORDS_KEPT)
def _number(word: str) -> int:
    return _NONE if word in _IDLE or word == _BORDER else crc32(word[:_LETTERS].encode(errors="surrogatepass")) % TERMS
