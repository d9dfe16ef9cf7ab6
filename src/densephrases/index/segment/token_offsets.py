"""Where kept tokens stand, in little more than two bytes each, for any rows at once.

The place of a row counts the bytes of all texts before its passage and the passage's characters before its token.
A character takes a byte or more, so that places never fall from one row to the next (Elias and Fano's pq): of each
its lowest eight bits are stored, the rest follows from how many rows stand before every 256th place.

The extent of a row is its token's length and its max_span: how many further rows a phrase that begins there may take.
Few
pairs of the two are common, so that one byte names one of the 255 most frequent; rows of other pairs are listed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

TOKEN_OFFSET_ARRAYS = {
    "begins": "u1",  # the lowest bits of each row's place
    "begin_rows": "<u4",  # rows before each 256th place but the first
    "extents": "u1",  # which of the frequent extents each row has, or that it is listed
    "extent_kinds": "<u4",  # the frequent ones
    "rare_rows": "<u4",  # the listed rows
    "rare_extents": "<u4",
}

_LOW_BITS = 8
_LOW = (1 << _LOW_BITS) - 1
_MAX_SPAN_BITS = 8
_MAX_SPAN = (1 << _MAX_SPAN_BITS) - 1
_LONGEST = 1 << (32 - _MAX_SPAN_BITS)
_LISTED = 255

# Shape suffixes: N rows asked for, R all rows, H steps of 256 places, C codes of extents, E listed rows.


@dataclass(frozen=True, slots=True)
class TokenOffsets:
    """The places and extents of a segment's rows; arrays may be mapped."""

    lows_R: NDArray[np.uint8]
    rows_H: NDArray[np.uint32]
    codes_R: NDArray[np.uint8]
    lengths_C: Rows
    max_span_C: Rows
    rare_rows_E: NDArray[np.uint32]
    rare_extents_E: NDArray[np.uint32]

    @classmethod
    def open(cls, array: Callable[[str], NDArray[Any]]) -> Self:
        """From arrays by name."""
        lows_R, rows_H, codes_R, frequent, rare_rows_E, rare_extents_E = map(array, TOKEN_OFFSET_ARRAYS)
        extents_C = np.zeros(_LISTED + 1, dtype=np.uint32)
        extents_C[: len(frequent)] = frequent
        return cls(lows_R, rows_H, codes_R, _lengths(extents_C), _max_span(extents_C), rare_rows_E, rare_extents_E)

    def of(self, rows_N: Rows) -> Rows:
        # As uint32: with another type than its own the whole array would be converted.
        steps_N = self.rows_H.searchsorted(rows_N.astype(np.uint32), side="right")
        return np.asarray((steps_N << _LOW_BITS) + self.lows_R[rows_N])

    def lengths(self, rows_N: Rows) -> Rows:
        return self._looked_up(rows_N, self.lengths_C, _lengths)

    def max_span(self, rows_N: Rows) -> Rows:
        return self._looked_up(rows_N, self.max_span_C, _max_span)

    @property
    def longest_span(self) -> int:
        return max(int(self.max_span_C.max()), int(_max_span(self.rare_extents_E).max(initial=0)))

    def _looked_up(self, rows_N: Rows, values_C: Rows, of_extents: Callable[[NDArray[np.uint32]], Rows]) -> Rows:
        codes_N = self.codes_R[rows_N]
        values_N = values_C.take(codes_N)
        (listed,) = (codes_N == _LISTED).nonzero()
        if len(listed):
            places_N = self.rare_rows_E.searchsorted(rows_N[listed].astype(np.uint32))
            values_N[listed] = of_extents(self.rare_extents_E[places_N])
        return values_N


def _lengths(extents: NDArray[np.uint32]) -> Rows:
    return np.asarray(extents >> _MAX_SPAN_BITS, dtype=np.int64)


def _max_span(extents: NDArray[np.uint32]) -> Rows:
    return np.asarray(extents & _MAX_SPAN, dtype=np.int64)


class TokenOffsetWriter:
    """Takes rows in order; `append` is given the arrays' names and what comes next in them.

    Extents are in memory until all are known: four bytes a row.
    """

    def __init__(self, append: Callable[[str, Any], None]) -> None:
        self._append = append
        self._rows = self._last = 0
        self._steps = 1
        self._extents: list[NDArray[np.uint32]] = []

    def add(self, places_R: Rows, lengths_R: NDArray[np.integer[Any]], max_span_R: NDArray[np.integer[Any]]) -> None:
        if len(places_R) == 0:
            return
        assert (np.diff(places_R, prepend=self._last) >= 0).all()
        assert (lengths_R < _LONGEST).all()
        assert (max_span_R <= _MAX_SPAN).all()
        self._append("begins", places_R & _LOW)
        self._append_steps(places_R)
        self._extents.append(((lengths_R.astype(np.int64) << _MAX_SPAN_BITS) | max_span_R).astype(np.uint32))
        self._rows += len(places_R)
        self._last = int(places_R[-1])
        assert self._rows <= np.iinfo(np.uint32).max

    def _append_steps(self, places_R: Rows) -> None:
        stop = (int(places_R[-1]) >> _LOW_BITS) + 1
        steps_H = np.arange(self._steps, stop) << _LOW_BITS
        self._append("begin_rows", self._rows + np.searchsorted(places_R, steps_H))
        self._steps = stop

    def finish(self) -> None:
        extents_R = np.concatenate([*self._extents, np.zeros(0, dtype=np.uint32)])
        kinds, kind_R, counts = np.unique(extents_R, return_inverse=True, return_counts=True)
        frequent = np.argsort(-counts, kind="stable")[:_LISTED]
        codes = np.full(len(kinds), _LISTED, dtype=np.uint8)
        codes[frequent] = np.arange(len(frequent))
        codes_R = codes[kind_R]
        rare_rows_E = np.flatnonzero(codes_R == _LISTED)
        self._append("extents", codes_R)
        self._append("extent_kinds", kinds[frequent])
        self._append("rare_rows", rare_rows_E)
        self._append("rare_extents", extents_R[rare_rows_E])
