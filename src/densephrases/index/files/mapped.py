"""Files mapped into memory as arrays. What is mapped can be read even after others have removed the file."""

import mmap
import os
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densephrases.arrays import Bytes
from densephrases.errors import PhraseIndexError
from densephrases.index.files.durable import DAMAGE_REMEDY, opened_here
from densephrases.index.files.open_files import with_more_files

_CLOSED: dict[str, Any] = {"trackfd": False} if sys.version_info >= (3, 13) and sys.platform != "win32" else {}
"""Before Python 3.13 every mapped file stays open."""


def map_file(path: Path, size: int | None = None) -> Bytes:
    """A file as a read-only array; an empty file, which cannot be mapped, as an empty array. No link is followed.

    Args:
        path: Of the file.
        size: Its size as it was written; a file of another size is refused, None takes any.
    """
    return with_more_files(path, lambda: _mapped(path, size))


def _mapped(path: Path, size: int | None) -> Bytes:
    with open(path, "rb", opener=_opened_at_once) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise PhraseIndexError(f"'{path}' is no file; {DAMAGE_REMEDY}.")
        if size is not None and found.st_size != size:
            raise PhraseIndexError(f"'{path}' has {found.st_size} bytes, {size} were written; {DAMAGE_REMEDY}.")
        if found.st_size == 0:
            return np.zeros(0, dtype=np.uint8)
        held = mmap.mmap(file.fileno(), found.st_size, access=mmap.ACCESS_READ, **_CLOSED)
        return np.frombuffer(held, dtype=np.uint8)


def _opened_at_once(path: str, flags: int) -> int:
    """A pipe in place of a file would let wait for who writes to it."""
    return opened_here(path, flags | getattr(os, "O_NONBLOCK", 0))


def release_pages(array: NDArray[Any]) -> None:
    """Release the memory of a mapped file; its pages are read again when they are used."""
    owner: Any = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and sys.platform != "win32":
        owner.madvise(mmap.MADV_DONTNEED)
