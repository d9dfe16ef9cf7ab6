"""Many runs of neighbouring numbers as one list."""

import numpy as np

from densephrases.search.collection import Rows


def ranges(first_H: Rows, count_H: Rows) -> tuple[Rows, Rows]:
    """The numbers first, first + 1, ... , `count` of them, of every pair in turn, and which pair each belongs to."""
    owner_N = np.repeat(np.arange(len(count_H)), count_H)
    before_H = np.cumsum(count_H) - count_H
    return owner_N, np.arange(len(owner_N)) + (first_H - before_H)[owner_N]
