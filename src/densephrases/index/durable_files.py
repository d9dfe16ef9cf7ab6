"""Files that survive a crash: hashed while they are written, synced before anything refers to them."""

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import Any, Self

from densephrases.errors import PhraseIndexError

DAMAGE_REMEDY = "restore it from a copy or build the index anew"
_BUFFER = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What a manifest knows of a file."""

    size: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Of a file that is there already."""
        digest = sha256()
        with path.open("rb") as file:
            while block := file.read(_BUFFER):
                digest.update(block)
        return cls(path.stat().st_size, digest.hexdigest())


def opened_here(path: str, flags: int) -> int:
    """Opens a file, never one that a link in its place points to."""
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise PhraseIndexError(
            f"'{path}' is a symbolic link, and an index follows none; remove it and run the same command again."
        ) from error


class HashedFile:
    """A new file and the hash of what was written to it so far."""

    def __init__(self, path: Path) -> None:
        self._file = BufferedWriter(FileIO(path, "wb", opener=opened_here), _BUFFER)
        self._digest = sha256()
        self.size = 0

    def write(self, data: Any) -> None:
        """Bytes, or an array as it lies in memory."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self._file.write(view)
        self._digest.update(view)
        self.size += len(view)

    def finish(self) -> FileEntry:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        return FileEntry(self.size, self._digest.hexdigest())

    def abandon(self) -> None:
        """Close without caring for what is still in the buffer."""
        try:
            self._file.close()
        except OSError:  # the disk is full: that has been said already
            self._file.raw.close()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as lasting as the files; where folders cannot be opened, the system does it."""
    if os.name == "nt":
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def replace_json(path: Path, values: Any) -> None:
    """The new content or the old, whatever happens in between."""
    new = path.with_suffix(".new")
    file = HashedFile(new)
    try:
        file.write((json.dumps(values, indent=1) + "\n").encode())
        file.finish()
    except OSError:
        file.abandon()
        new.unlink(missing_ok=True)
        raise
    new.replace(path)
    sync_folder(path.parent)


@contextmanager
def full_disk_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise PhraseIndexError(
            f"The disk is full while writing index '{folder}'; everything committed before is kept: "
            "free some space and run the same command again."
        ) from error
