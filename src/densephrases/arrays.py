"""Array types, named by what they hold, and runs of neighbouring numbers."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def ranges(first_H: Ints, count_H: Ints) -> tuple[Ints, Ints]:
    """The numbers first, first + 1, ... , `count` of them, of every pair in turn, and which pair each belongs to."""
    owner_N = np.repeat(np.arange(len(count_H)), count_H)
    before_H = np.cumsum(count_H) - count_H
    return owner_N, np.arange(len(owner_N)) + (first_H - before_H)[owner_N]
