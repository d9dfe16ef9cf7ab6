"""Words hashed to 16-bit term ids, small enough that an index stores all of them, for lexical overlap."""

import re
from functools import lru_cache
from unicodedata import normalize
from zlib import crc32

from densephrases.text.words import UNSPACED

TERMS = 1 << 16

# A prefix instead of a stemmer works in any language; on SQuAD it is as accurate.
_LETTERS = 6
_CACHED_WORDS = 1 << 17  # a few megabytes

_ALONE = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
_ASCII_WORD = re.compile("[a-z0-9]+")  # of text in lower case the same words, in 0.6 of the time
_JOINED = re.compile(rf"[^\W_{_ALONE}]")
# Stop words are not stored: they would take a fifth of the bytes.
_STOP_LIST = """a an and are as at be been but by did do does for from had has have he her his how if in into is it its
no not of on or she such that the their then there these they this to was were what when where which who whom whose why
will with"""
_STOP_WORDS = frozenset(_STOP_LIST.split())
_NONE = -1  # the id of stop words


def terms(text: str) -> set[int]:
    """The ids of a text's words, below `TERMS`. Different words may share one."""
    found = set(map(_term, set(_words(text))))
    found.discard(_NONE)
    return found


def prefixes(text: str) -> dict[int, str]:
    """By the id of each word of a text what it is the hash of, which `prefix_positions` looks for.

    Of words that share an id the first one counts.
    """
    found: dict[int, str] = {}
    for word in _words(text):
        found.setdefault(_term(word), word[:_LETTERS])
    found.pop(_NONE, None)
    return found


def prefix_positions(folded: str, prefix: str) -> list[int]:
    """Where words of the term begin in a folded text: for a few terms faster than all `terms` of it."""
    found = []
    at = folded.find(prefix)
    while at >= 0:
        if _is_term(folded, at, prefix):
            found.append(at)
        at = folded.find(prefix, at + 1)
    return found


def fold(text: str) -> str:
    """The form in which words are compared."""
    return text.lower() if text.isascii() else normalize("NFKC", text).lower()


def _words(text: str) -> list[str]:
    return (_ASCII_WORD if text.isascii() else _WORD).findall(fold(text))


def _is_term(folded: str, at: int, prefix: str) -> bool:
    """Whether a word begins there, and ends there if it is too short to be cut."""
    if not _joins(prefix[0]):
        return True
    end = at + len(prefix)
    begins = at == 0 or not _joins(folded[at - 1])
    return begins and (len(prefix) == _LETTERS or end == len(folded) or not _joins(folded[end]))


@lru_cache(1 << 12)
def _joins(character: str) -> bool:
    """Whether it makes words with its neighbours."""
    return _JOINED.match(character) is not None


@lru_cache(_CACHED_WORDS)
def _term(word: str) -> int:
    if word in _STOP_WORDS:
        return _NONE
    return crc32(word[:_LETTERS].encode(errors="surrogatepass")) % TERMS
