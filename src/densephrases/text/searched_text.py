"""A text whose sentences and terms are found when they are asked for, and remembered."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from unicodedata import is_normalized

from densephrases.text.hashed_terms import fold, prefix_positions
from densephrases.text.sentences import TextSpan, block_spans, sentences_of_block

_PIECE = re.compile(r"\S+|\s+")


class SearchedText:
    """Many phrases of one passage are compared with the terms of a question; the text is split for none of them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._positions: dict[str, Sequence[int]] = {}
        self._sentences: dict[int, tuple[list[TextSpan], Iterator[TextSpan]]] = {}

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

    def sentences_around(self, start: int, end: int) -> TextSpan:
        """From the first to the last sentence that a span touches; the span itself if it touches none."""
        last = max(end, start + 1)
        touched = [
            sentence
            for number, block in enumerate(self._blocks)
            if block.start < last and start < block.end
            for sentence in self._sentences_until(last, number)
            if sentence.start < last and start < sentence.end
        ]
        return TextSpan(touched[0].start, touched[-1].end) if touched else TextSpan(start, end)

    @cached_property
    def _blocks(self) -> list[TextSpan]:
        return block_spans(self.text)

    def _sentences_until(self, last: int, block: int) -> list[TextSpan]:
        """The sentences of a block, at least those that begin before the character."""
        if block not in self._sentences:
            self._sentences[block] = [], sentences_of_block(self.text, self._blocks[block])
        known, further = self._sentences[block]
        while not known or known[-1].end < last:
            sentence = next(further, None)
            if sentence is None:
                break
            known.append(sentence)
        return known

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
