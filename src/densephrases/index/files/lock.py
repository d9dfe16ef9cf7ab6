"""One writer at a time. The system releases the lock whenever its process ends, so no lock is ever stale."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from densephrases.errors import IndexBusyError
from densephrases.index.files.durable import opened_here

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK_FILE = "writer.lock"
_LOCKED_BYTE = 1 << 20  # far behind the name: Windows forbids reading locked bytes


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Lock the folder for writing; if another process holds the lock, raise IndexBusyError, which names it."""
    with FileIO(folder / LOCK_FILE, "a+b", opener=opened_here) as file:
        if not _try_lock(file):
            file.seek(0)
            holder = file.read(200).decode(errors="replace").strip() or "unknown"
            raise IndexBusyError(
                f"Index '{folder}' is being written by process {holder}; wait until it has ended, or end it."
            )
        with suppress(OSError):  # the lock holds without the name, and a full disk must not forbid a deletion
            file.truncate(0)
            file.write(f"{os.getpid()}\n".encode())
        yield


def _try_lock(file: FileIO) -> bool:
    """Closing the file unlocks it."""
    try:
        if sys.platform == "win32":
            file.seek(_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
