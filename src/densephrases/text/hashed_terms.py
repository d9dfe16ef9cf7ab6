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
# Stop words are not stored: they would take a fifth of the bytes.
_STOP_LIST = """a an and are as at be been but by did do does for from had has have he her his how if in into is it its
no not of on or she such that the their then there these they this to was were what when where which who whom whose why
will with"""
_STOP_WORDS = frozenset(_STOP_LIST.split())
_NONE = -1  # the id of stop words and of borders between texts


def terms(text: str) -> set[int]:
    """The ids of a text's words, below `TERMS`. Different words may share one."""
    found = set(map(_term, set(_WORD.findall(_lowered(text)))))
    found.discard(_NONE)
    return found


def terms_of_each(texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each word of each text: the text's position and the term id. For many short texts faster than `terms`."""
    joined = _BORDER.join(text.replace(_BORDER, " ") for text in texts)
    found = _WORD_OR_BORDER.findall(_lowered(joined))
    text_N = np.cumsum(np.fromiter((word == _BORDER for word in found), np.int64, len(found)))
    term_N = np.fromiter(map(_term, found), np.int64, len(found))
    counted_N = term_N != _NONE
    return text_N[counted_N], term_N[counted_N]


def _lowered(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", text).lower()


@lru_cache(_CACHED_WORDS)
def _term(word: str) -> int:
    return (
        _NONE
        if word in _STOP_WORDS or word == _BORDER
        else crc32(word[:_LETTERS].encode(errors="surrogatepass")) % TERMS
    )
