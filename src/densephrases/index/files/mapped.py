"""Files mapped into memory as arrays."""

import mmap
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def map_array(path: Path, dtype: Any) -> NDArray[Any]:
    """A file of numbers as a read-only array; an empty file, which cannot be mapped, as an empty array."""
    if path.stat().st_size == 0:
        return np.zeros(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)


def release_pages(array: NDArray[Any]) -> None:
    """Release the memory of a mapped file; its pages are read again when they are used."""
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and sys.platform != "win32":
        owner.madvise(mmap.MADV_DONTNEED)
