"""Which answers occur in a text: word sequences by their normal form, or regular expressions.

An answer occurs in a text if a phrase of the text is an exact match. Phrases begin and end at word boundaries: "Paris"
occurs in "a Paris-based firm", although the normal form of the text has "parisbased".
"""

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from densephrases.data.matching.regex_answers import PatternAnswer
from densephrases.text.normalize import normalize_answer
from densephrases.text.words import is_inside_word

_ARTICLES = frozenset({"a", "an", "the"})
_CACHED_WORDS = 500_000  # a collection has an unbounded number of different words


Tokens = tuple[str, ...]


class _Node:
    """A node of the trie of answers: next words, and the owners of the answers that end here."""

    __slots__ = ("next", "owners")

    def __init__(self) -> None:
        self.next: dict[str, _Node] = {}
        self.owners: set[int] = set()

    def walk(self, tokens: Tokens) -> "_Node | None":
        node: _Node | None = self
        for token in tokens:
            node = node.next.get(token) if node is not None else None
        return node


class AnswerScanner:
    """Searches for all answers in one pass over a text.

    `found` holds the owners of the answers seen so far. Matches within a word are cached per distinct word; the words
    after it are compared only if it begins a longer answer.
    """

    def __init__(self, answers: Iterable[tuple[int, str]]) -> None:
        self.found: set[int] = set()
        self._root = _Node()
        self._longest = 0
        for owner, answer in answers:
            node = self._root
            for token in normalize_answer(answer).split():
                node = node.next.setdefault(token, _Node())
                self._longest = max(self._longest, len(token))
            node.owners.add(owner)
        self._nothing_sought = not self._root.next and not self._root.owners
        self._beginnings: dict[str, tuple[_Node, ...]] = {}
        self._heads: dict[str, tuple[Tokens, ...]] = {}

    def scan(self, text: str) -> None:
        if self._nothing_sought:
            return
        words = text.split()
        beginnings = self._beginnings
        for place, word in enumerate(words):
            nodes = beginnings.get(word)
            if nodes is None:
                nodes = self._learn(word)
            if nodes:
                self._follow(nodes, words, place + 1)

    def _learn(self, word: str) -> tuple[_Node, ...]:
        """Record the answers within a word; the nodes of longer answers that begin in it."""
        nodes = []
        for _, end, tokens in self._pieces(word):
            node = self._root.walk(tokens)
            if node is None:
                continue
            self.found |= node.owners
            if end == len(word) and node.next and node is not self._root and node not in nodes:
                nodes.append(node)
        if len(self._beginnings) >= _CACHED_WORDS:
            self._beginnings.clear()
            self._heads.clear()
        self._beginnings[word] = tuple(nodes)
        return self._beginnings[word]

    def _follow(self, nodes: Sequence[_Node], words: Sequence[str], place: int) -> None:
        for node in nodes:
            here: _Node | None = node
            for word in islice(words, place, None):
                here = self._step(here, word) if here is not None and here.next else None
                if here is None:
                    break

    def _step(self, node: _Node, word: str) -> _Node | None:
        """Record the answers that end in a word; the node of those that go on after it."""
        heads = self._heads.get(word)
        if heads is None:
            heads = self._heads[word] = tuple(_heads(word))
        reached = [node.walk(head) for head in heads]
        for end in reached:
            self.found |= end.owners if end is not None else set()
        return reached[-1]

    def _pieces(self, word: str) -> Iterator[tuple[int, int, Tokens]]:
        """Start, end and normal form of each piece of a word that a phrase may contain, up to the longest answer."""
        cuts = _cuts(word)
        for place, start in enumerate(cuts[:-1]):
            for end in cuts[place + 1 :]:
                tokens = _tokens(word[start:end])
                yield start, end, tokens
                if tokens and len(tokens[0]) > self._longest:
                    break


def _heads(word: str) -> Iterator[Tokens]:
    """Normal forms of the beginnings of a word at which a phrase may end, the whole word last."""
    for end in _cuts(word)[1:]:
        yield _tokens(word[:end])


def _tokens(piece: str) -> Tokens:
    """Its normal form, with a shortcut for plain words."""
    if piece.isascii() and piece.isalnum():
        token = piece.lower()
        return () if token in _ARTICLES else (token,)
    return tuple(normalize_answer(piece).split())


def _cuts(word: str) -> list[int]:
    """Positions at which a phrase may begin or end within a word; surrounding punctuation counts as one piece."""
    core = word.strip(string.punctuation)
    if core.isascii() and core.isalnum():
        begin = word.index(core)
        return sorted({0, begin, begin + len(core), len(word)})
    return [position for position in range(len(word) + 1) if not is_inside_word(word, position)]


class PatternScanner:
    """The same for regular expressions; phrases have at most `max_words` words."""

    def __init__(self, patterns: Iterable[tuple[int, PatternAnswer]], max_words: int) -> None:
        self.found: set[int] = set()
        self.max_words = max_words
        self._open = list(patterns)

    def scan(self, texts: Sequence[str]) -> None:
        """Tries only patterns whose required literals occur in the texts."""
        if not self._open:
            return
        folded = [text.casefold() for text in texts]
        everything = "\n".join(folded)
        for owner, pattern in self._open:
            tried = zip(texts, folded, strict=True) if pattern.may_match(everything) else ()
            if any(
                pattern.may_match(fold) and pattern_occurs_in(pattern, text, self.max_words) for text, fold in tried
            ):
                self.found.add(owner)
        self._open = [(owner, pattern) for owner, pattern in self._open if owner not in self.found]


def pattern_occurs_in(pattern: PatternAnswer, text: str, max_words: int) -> bool:
    """Whether it matches a phrase: the longest phrase at each word start is tried."""
    position = 0
    while match := pattern.compiled.search(text, position):
        position = match.start()
        if not is_inside_word(text, position) and pattern.matches(first_words(text, position, max_words)):
            return True
        position += 1
    return False


def first_words(text: str, position: int, count: int) -> str:
    """The first `count` words from a position on."""
    found = _words(count).match(text, position)
    assert found is not None
    return found[0].rstrip()


@cache
def _words(count: int) -> re.Pattern[str]:
    return re.compile(rf"\s*(?:\S+\s+){{0,{count - 1}}}\S*")
