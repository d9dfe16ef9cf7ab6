"""Words hashed to 16-bit term ids, small enough that an index stores all of them, for lexical overlap."""

import re
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import normalize
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from densephrases.text.words import UNSPACED

TERMS = 1 << 16

# A prefix instead of a stemmer works in any language; on SQuAD it is as accurate.
_LETTERS = 6
_CACHED_WORDS = 1 << 17  # a few megabytes

_ALONE = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
_BORDER = "\0"
_WORD_OR_BORDER = re.compile(rf"{_BORDER}|{_WORD.pattern}")
_ASCII_WORD = re.compile("[a-z0-9]+")  # of text in lower case the same words, in 0.6 of the time
_ASCII_WORD_OR_BORDER = re.compile(f"[a-z0-9]+|{_BORDER}")
# Stop words are not stored: they would take a fifth of the bytes.
_STOP_LIST = """a an and are as at be been but by did do does for from had has have he her his how if in into is it its
no not of on or she such that the their then there these they this to was were what when where which who whom whose why
will with"""
_STOP_WORDS = frozenset(_STOP_LIST.split())
_NONE = -1  # the id of stop words
_NEXT = -2  # that of the border between two texts


def terms(text: str) -> set[int]:
    """The ids of a text's words, below `TERMS`. Different words may share one."""
    words = _ASCII_WORD if text.isascii() else _WORD
    found = set(map(_term, set(words.findall(_lowered(text)))))
    found.discard(_NONE)
    return found


def terms_of_each(texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each word of each text: the text's position and the term id. For many short texts faster than `terms`."""
    joined = _BORDER.join(text.replace(_BORDER, " ") for text in texts)
    words = _ASCII_WORD_OR_BORDER if joined.isascii() else _WORD_OR_BORDER
    found = words.findall(_lowered(joined))
    term_N = np.fromiter(map(_term, found), np.int64, len(found))
    text_N = np.cumsum(term_N == _NEXT)
    counted_N = term_N >= 0
    return text_N[counted_N], term_N[counted_N]


def _lowered(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", text).lower()


@lru_cache(_CACHED_WORDS)
def _term(word: str) -> int:
    if word == _BORDER:
        return _NEXT
    if word in _STOP_WORDS:
        return _NONE
    return crc32(word[:_LETTERS].encode(errors="surrogatepass")) % TERMS
