"""Offsets of kept tokens, in little more than two bytes each.

The offset of a token is the number of bytes of all texts before its passage plus the characters of the passage before
the token. A character takes a byte or more, so offsets never decrease. They are stored by the method of Elias and Fano:
the lowest eight bits of each, and the number of tokens before every 256th offset.

The extent of a token is its length and its max_span: how many further kept tokens a phrase that begins there may
include. Few pairs of the two are common, so one byte names one of the 255 most frequent; tokens with other pairs are
listed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Ints
from densephrases.errors import PhraseIndexError
from densephrases.index.files.checked import CheckedArray
from densephrases.index.files.durable import DAMAGE_REMEDY

TOKEN_OFFSET_ARRAYS = {
    "token_offset_lows": "u1",  # the lowest eight bits of each offset
    "token_offset_steps": "<u4",  # token vectors before each 256th offset but the first
    "token_extents": "u1",  # which of the frequent extents each token has, or 255: it is listed
    "frequent_extents": "<u4",
    "rare_extent_vectors": "<u4",  # the listed token vectors
    "rare_extents": "<u4",
}
ROW_ARRAYS = ("token_offset_lows", "token_extents")

_LOW_BITS = 8
_LOW = (1 << _LOW_BITS) - 1
_MAX_SPAN_BITS = 8
_MAX_SPAN = (1 << _MAX_SPAN_BITS) - 1
_LONGEST = 1 << (32 - _MAX_SPAN_BITS)
_LISTED = 255

# Shape suffixes: N rows asked for, R all rows (kept tokens), H steps of 256 offsets, C codes of extents, E listed rows.


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """Offsets and extents of the kept tokens of a segment; arrays may be mapped."""

    lows_R: CheckedArray
    rows_H: NDArray[np.uint32]
    codes_R: CheckedArray
    lengths_C: Ints
    max_span_C: Ints
    rare_rows_E: NDArray[np.uint32]
    rare_extents_E: NDArray[np.uint32]

    @classmethod
    def open(cls, array: Callable[[str], NDArray[Any]], of_rows: Callable[[str], CheckedArray]) -> Self:
        """From arrays by name; those with a value for each row are verified as rows are asked for."""
        lows_R, codes_R = map(of_rows, ROW_ARRAYS)
        rows_H, frequent, rare_rows_E, rare_extents_E = (
            array(name) for name in TOKEN_OFFSET_ARRAYS if name not in ROW_ARRAYS
        )
        extents_C = np.zeros(_LISTED + 1, dtype=np.uint32)
        extents_C[: len(frequent)] = frequent
        return cls(lows_R, rows_H, codes_R, _lengths(extents_C), _max_span(extents_C), rare_rows_E, rare_extents_E)

    def offsets(self, rows_N: Ints) -> Ints:
        # As uint32: otherwise the whole array would be converted.
        steps_N = self.rows_H.searchsorted(rows_N.astype(np.uint32), side="right")
        return np.asarray((steps_N << _LOW_BITS) + self.lows_R[rows_N])

    def lengths(self, rows_N: Ints) -> Ints:
        return self._looked_up(rows_N, self.lengths_C, _lengths)

    def max_span(self, rows_N: Ints) -> Ints:
        return self._looked_up(rows_N, self.max_span_C, _max_span)

    @property
    def longest_span(self) -> int:
        return max(int(self.max_span_C.max()), int(_max_span(self.rare_extents_E).max(initial=0)))

    def _looked_up(self, rows_N: Ints, values_C: Ints, of_extents: Callable[[NDArray[np.uint32]], Ints]) -> Ints:
        codes_N = self.codes_R[rows_N]
        values_N = values_C.take(codes_N)
        (listed,) = (codes_N == _LISTED).nonzero()
        if len(listed):
            values_N[listed] = of_extents(self._rare_extents(rows_N[listed]))
        return values_N

    def _rare_extents(self, rows_N: Ints) -> NDArray[np.uint32]:
        listed_N = self.rare_rows_E.searchsorted(rows_N.astype(np.uint32))
        if len(self.rare_rows_E) == 0 or (self.rare_rows_E.take(listed_N, mode="clip") != rows_N).any():
            raise PhraseIndexError(
                f"A segment lacks the extents of some of its tokens: its token_extents are damaged; {DAMAGE_REMEDY}."
            )
        return np.asarray(self.rare_extents_E[listed_N])


def _lengths(extents: NDArray[np.uint32]) -> Ints:
    return np.asarray(extents >> _MAX_SPAN_BITS, dtype=np.int64)


def _max_span(extents: NDArray[np.uint32]) -> Ints:
    return np.asarray(extents & _MAX_SPAN, dtype=np.int64)


class TokenOffsetWriter:
    """Takes tokens in order; `append` receives the name of an array and the next values of it.

    Extents stay in memory until all are known: four bytes a token.
    """

    def __init__(self, append: Callable[[str, Any], None]) -> None:
        self._append = append
        self._rows = self._last = 0
        self._steps = 1
        self._extents: list[NDArray[np.uint32]] = []

    def add(self, offsets_R: Ints, lengths_R: NDArray[np.integer[Any]], max_span_R: NDArray[np.integer[Any]]) -> None:
        if len(offsets_R) == 0:
            return
        assert (np.diff(offsets_R, prepend=self._last) >= 0).all()
        assert (lengths_R < _LONGEST).all()
        assert (max_span_R <= _MAX_SPAN).all()
        self._append("token_offset_lows", offsets_R & _LOW)
        self._append_steps(offsets_R)
        self._extents.append(((lengths_R.astype(np.int64) << _MAX_SPAN_BITS) | max_span_R).astype(np.uint32))
        self._rows += len(offsets_R)
        self._last = int(offsets_R[-1])
        assert self._rows <= np.iinfo(np.uint32).max

    def _append_steps(self, offsets_R: Ints) -> None:
        stop = (int(offsets_R[-1]) >> _LOW_BITS) + 1
        steps_H = np.arange(self._steps, stop) << _LOW_BITS
        self._append("token_offset_steps", self._rows + np.searchsorted(offsets_R, steps_H))
        self._steps = stop

    def finish(self) -> None:
        extents_R = np.concatenate([*self._extents, np.zeros(0, dtype=np.uint32)])
        kinds, kind_R, counts = np.unique(extents_R, return_inverse=True, return_counts=True)
        frequent = np.argsort(-counts, kind="stable")[:_LISTED]
        codes = np.full(len(kinds), _LISTED, dtype=np.uint8)
        codes[frequent] = np.arange(len(frequent))
        codes_R = codes[kind_R]
        rare_rows_E = np.flatnonzero(codes_R == _LISTED)
        self._append("token_extents", codes_R)
        self._append("frequent_extents", kinds[frequent])
        self._append("rare_extent_vectors", rare_rows_E)
        self._append("rare_extents", extents_R[rare_rows_E])
