"""Passages read together with a question: which part of them, and the phrases that the reader finds there."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densephrases.arrays import Floats, Ints, Mask
from densephrases.model.encoder import ReadingLogits
from densephrases.model.tokenizer import TokenizedPassage, Tokens, Window
from densephrases.search.scoring.in_passage import Span, best_span
from densephrases.text.words import is_inside_word

# Tokens around the phrase in question; longer passages are cut to it. Attention costs more than in proportion to
# length, and 95% of SQuAD's paragraphs are shorter.
READ_TOKENS = 256

# Shape suffixes: T tokens of the window.


def reading_excerpt(tokens: Tokens, passage: TokenizedPassage, start: int) -> Window | None:
    """What is read of a passage: the tokens around the phrase that begins at character `start`; None if it is empty."""
    if not passage.windows:
        return None
    token = min(int(np.searchsorted(passage.offsets[:, 1], start, side="right")), len(passage.offsets) - 1)
    window = next(each for each in passage.windows if each.own_start <= token < each.own_stop)
    if window.stop - window.start <= READ_TOKENS:
        return window
    first = min(max(token - READ_TOKENS // 2, window.start), window.stop - READ_TOKENS)
    return tokens.excerpt(window, first, first + READ_TOKENS)


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """The tokens of a passage that were read: offsets in its text, longest phrases, start and end logits.

    `null` is the logit of no answer, None where the model has not learned it.
    """

    text: str
    offsets_T2: Ints
    max_span_T: Ints  # within these tokens
    logits_T2: Floats
    headings: Sequence[tuple[int, int]] = ()  # of which no phrase is taken
    null: float | None = None

    @classmethod
    def from_window(
        cls,
        text: str,
        passage: TokenizedPassage,
        window: Window,
        logits: ReadingLogits,
        headings: Sequence[tuple[int, int]] = (),
    ) -> "ReadPassage":
        max_span_T = np.minimum(passage.max_span[window.start : window.stop], window.stop - 1) - window.start
        offsets_T2 = passage.offsets[window.start : window.stop]
        return cls(text, offsets_T2, max_span_T, logits.tokens_T2, headings, logits.null)

    def best_phrase(self) -> tuple[int, int, float] | None:
        """Characters and logit of the best phrase that begins and ends at word boundaries and has a letter or digit."""
        start_T, end_T = (self.logits_T2[:, side].astype(np.float32) for side in range(2))
        begins, ends = self.offsets_T2.T.tolist()
        start_T = np.where([is_inside_word(self.text, place) for place in begins], np.float32(-np.inf), start_T)
        end_T = np.where([is_inside_word(self.text, place) for place in ends], np.float32(-np.inf), end_T)
        heading_T = self._heading_T
        start_T, end_T = (np.where(heading_T, np.float32(-np.inf), side_T) for side_T in (start_T, end_T))
        span = best_span(start_T, end_T, self._up_to_headings(heading_T), penalties=self._without_letters)
        if span is None or span.score == -np.inf:
            return None
        return (*self._characters(span), span.score)

    @property
    def _heading_T(self) -> Mask:  # noqa: N802
        """Which tokens are in a heading."""
        inside_T = np.zeros(len(self.offsets_T2), dtype=bool)
        for start, end in self.headings:
            inside_T |= (self.offsets_T2[:, 0] < end) & (self.offsets_T2[:, 1] > start)
        return inside_T

    def _up_to_headings(self, heading_T: Mask) -> Ints:
        """The longest phrases that cross no heading."""
        if not heading_T.any():
            return self.max_span_T
        places = np.append(np.flatnonzero(heading_T), len(heading_T))
        next_T = places[np.searchsorted(places, np.arange(len(heading_T)))]
        return np.asarray(np.maximum(np.minimum(self.max_span_T, next_T - 1), np.arange(len(heading_T))))

    def _without_letters(self, start_N: Ints, end_N: Ints) -> Floats:
        """Infinite for spans without any letter or digit."""
        visible = [any(map(str.isalnum, self.text[begin:end])) for begin, end in self.offsets_T2.tolist()]
        before_T = np.cumsum([0, *visible])
        return np.where(before_T[end_N + 1] > before_T[start_N], 0, np.inf).astype(np.float32)

    def _characters(self, span: Span) -> tuple[int, int]:
        return int(self.offsets_T2[span.start, 0]), int(self.offsets_T2[span.end, 1])

    def logit(self, start: int, end: int) -> float | None:
        """Of the phrase with these character offsets; None if it was not read as a whole."""
        first, last = np.flatnonzero(self.offsets_T2[:, 0] == start), np.flatnonzero(self.offsets_T2[:, 1] == end)
        if not len(first) or not len(last):
            return None
        return float(self.logits_T2[first[0], 0] + self.logits_T2[last[-1], 1])
