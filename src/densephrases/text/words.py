"""Words as runs of non-space characters: the measure of how long a phrase may be."""

import numpy as np
from numpy.typing import NDArray


def word_numbers(text: str, positions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The number of the word in which each character position lies, counted from 0."""
    space = np.fromiter((c.isspace() for c in text), dtype=bool, count=len(text))
    begins = ~space
    begins[1:] &= space[:-1]
    return np.asarray(np.cumsum(begins)[positions] - 1, dtype=np.int64)
