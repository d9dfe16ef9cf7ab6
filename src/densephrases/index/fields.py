"""Which numbers of a row share a byte, and how many bits each has. A byte is looked up for all its numbers at once.

Bits of neighbours in order of importance fall from 8 to 1, as variances say they should, but for numbers of one bit:
variances would drop them all, and the rows that questions look for fit in many of these small directions at once.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]

# The bits of the numbers in a byte, and how many such bytes a vector of 384 numbers has.
_BYTES = {(8,): 7, (6, 2): 20, (5, 3): 24, (4, 4): 12, (2,) * 4: 5, (1,) * 8: 14}
_VECTOR = 384
WIDTHS = tuple(sorted({bits for pattern in _BYTES for bits in pattern}))

# Shape suffixes: N rows, K coded numbers, the most important first, F bytes of a field, M numbers in each of them.


@dataclass(frozen=True)
class Field:
    """Bytes of a row with equally many numbers in each."""

    name: str
    numbers_FM: Numbers
    bits_FM: Numbers

    @property
    def shifts(self) -> Numbers:
        """The first number of a byte is in its lowest bits (F, M)."""
        return np.asarray(np.cumsum(self.bits_FM, axis=1) - self.bits_FM)

    def packed(self, codes_NK: Bytes) -> Bytes:
        shifted_NFM = codes_NK[:, self.numbers_FM] << self.shifts.astype(np.uint8)
        return np.asarray(np.bitwise_or.reduce(shifted_NFM, axis=2), dtype=np.uint8)

    def codes(self) -> Numbers:
        """What each value of each byte says of its numbers (F, 256, M)."""
        return np.asarray(np.arange(256)[:, None] >> self.shifts[:, None] & (2 ** self.bits_FM[:, None] - 1))


@cache
def fields(dim: int) -> tuple[Field, ...]:
    """Of vectors with so many numbers."""
    patterns: dict[int, list[tuple[int, ...]]] = {}
    for pattern, count in _BYTES.items():
        patterns.setdefault(len(pattern), []).extend([pattern] * -(-dim * count // _VECTOR))
    bits = [np.array(alike, dtype=np.int64) for alike in patterns.values()]
    flat = np.concatenate([several.ravel() for several in bits])
    numbers = np.empty(len(flat), dtype=np.int64)
    numbers[np.argsort(-flat, kind="stable")] = np.arange(len(flat))
    edges = np.cumsum([0, *(several.size for several in bits)]).tolist()
    return tuple(
        Field(f"by_{several.shape[1]}", numbers[first:stop].reshape(several.shape), several)
        for several, (first, stop) in zip(bits, pairwise(edges), strict=True)
    )


@cache
def bits_of_numbers(dim: int) -> tuple[int, ...]:
    """Of each coded number, the most important first."""
    bits_K = np.zeros(sum(field.bits_FM.size for field in fields(dim)), dtype=np.int64)
    for field in fields(dim):
        bits_K[field.numbers_FM] = field.bits_FM
    return tuple(bits_K.tolist())


def row_type(dim: int) -> np.dtype[Any]:
    return np.dtype([(field.name, "u1", (len(field.bits_FM),)) for field in fields(dim)])
