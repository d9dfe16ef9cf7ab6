"""A text whose sentences and terms are found when they are asked for, and remembered."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from unicodedata import is_normalized

from densephrases.text.hashed_terms import fold, prefix_positions
from densephrases.text.sentences import TextSpan, block_spans, sentences_of_block

_PIECE = re.compile(r"\S+|\s+")

Occurrences = Sequence[tuple[int, Sequence[int]]]
"""The numbers of terms that a text has, and where their words begin in it."""


class SearchedText:
    """Many phrases of one passage are compared with the terms of a question; the text is split for none of them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._positions: dict[str, Sequence[int]] = {}
        self._occurrences: dict[tuple[str, ...], Occurrences] = {}
        self._sentences: list[TextSpan] = []  # those found so far
        self._around: dict[tuple[int, int], TextSpan] = {}

    def positions(self, prefix: str) -> Sequence[int]:
        """Where the words of a term begin, given by its prefix."""
        found = self._positions.get(prefix)
        if found is None:
            folded, places = self._folded
            found = prefix_positions(folded, prefix)
            if places is not None:
                found = [places[at] for at in found]
            self._positions[prefix] = found
        return found

    def occurring(self, prefixes: tuple[str, ...]) -> Occurrences:
        """Which of several terms the text has, by their places in the tuple, and their positions."""
        found = self._occurrences.get(prefixes)
        if found is None:
            folded, _ = self._folded
            places = ((place, self.positions(prefix)) for place, prefix in enumerate(prefixes) if prefix in folded)
            found = self._occurrences[prefixes] = [each for each in places if each[1]]
        return found

    def sentences_around(self, start: int, end: int) -> TextSpan:
        """From the first to the last sentence that a span touches; the span itself if it touches none."""
        found = self._around.get((start, end))
        if found is None:
            found = self._around[start, end] = self._find_sentences(start, end)
        return found

    def _find_sentences(self, start: int, end: int) -> TextSpan:
        last = max(end, start + 1)
        touched = [each for each in self._sentences_until(last) if each.start < last and start < each.end]
        return TextSpan(touched[0].start, touched[-1].end) if touched else TextSpan(start, end)

    def _sentences_until(self, last: int) -> list[TextSpan]:
        """At least those that begin before the character."""
        known = self._sentences
        while not known or known[-1].end < last:
            sentence = next(self._further_sentences, None)
            if sentence is None:
                break
            known.append(sentence)
        return known

    @cached_property
    def _further_sentences(self) -> Iterator[TextSpan]:
        return (sentence for block in block_spans(self.text) for sentence in sentences_of_block(self.text, block))

    @cached_property
    def _folded(self) -> tuple[str, list[int] | None]:
        """The folded text, and the place of each of its characters in the text if that is not the same."""
        folded = fold(self.text)
        if len(folded) == len(self.text) and (self.text.isascii() or is_normalized("NFKC", self.text)):
            return folded, None
        pieces = [(piece.start(), piece.end(), fold(piece.group())) for piece in _PIECE.finditer(self.text)]
        places: list[int] = []
        for start, end, piece in pieces:
            places += range(start, end) if len(piece) == end - start else [start] * len(piece)
        return "".join(piece for _, _, piece in pieces), places
