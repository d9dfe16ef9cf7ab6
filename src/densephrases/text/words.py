"""Words as runs of non-space characters: the measure of how long a phrase may be."""

import numpy as np
from numpy.typing import NDArray

_IS_SPACE = np.array([chr(code).isspace() for code in range(0x3002)])  # no character beyond is a space


def word_numbers(text: str, positions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The number of the word in which each character position lies, counted from 0.

    Space counts to the word after it, and so does the end of the text: tokenizers put both into tokens.
    """
    space = np.append(_spaces(text), True)
    begins = ~space
    begins[1:] &= space[:-1]
    return np.asarray((np.cumsum(begins) - ~space)[positions], dtype=np.int64)


def skip_spaces(text: str, positions: NDArray[np.integer]) -> NDArray[np.int64]:
    """The first non-space character at or after each position, or the end of the text."""
    visible = np.append(np.flatnonzero(~_spaces(text)), len(text))
    return np.asarray(visible[np.searchsorted(visible, positions)], dtype=np.int64)


def _spaces(text: str) -> NDArray[np.bool_]:
    codes = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), dtype=np.uint32)
    return np.asarray(_IS_SPACE[np.minimum(codes, len(_IS_SPACE) - 1)])
