"""Files mapped into memory as arrays. What is mapped can be read even after others have removed the file."""

import mmap
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes
from densephrases.index.files.durable import opened_here


def map_file(path: Path) -> Bytes:
    """A file as a read-only array; an empty file, which cannot be mapped, as an empty array. No link is followed."""
    with open(path, "rb", opener=opened_here) as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            return np.zeros(0, dtype=np.uint8)
        return np.frombuffer(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ), dtype=np.uint8)


def release_pages(array: NDArray[Any]) -> None:
    """Release the memory of a mapped file; its pages are read again when they are used."""
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and sys.platform != "win32":
        owner.madvise(mmap.MADV_DONTNEED)
