"""Files that survive a crash: hashed while they are written, synced before anything refers to them, never links."""

import errno
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import Any, Self

from densephrases.atomic_files import naming, new_path, replacing
from densephrases.errors import DiskFullError, PhraseIndexError
from densephrases.index.files.open_files import with_more_files

DAMAGE_REMEDY = "restore it from a copy or build a new index"
BLOCK_BYTES = 1 << 14  # that have a checksum of their own; zlib lets other threads run while it reads as many
_BUFFER = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """Size and checksum of a file, as the manifest lists them."""

    size: int
    sha256: str

    @classmethod
    def from_file(cls, path: Path) -> Self:
        with path.open("rb") as file:
            return cls(path.stat().st_size, file_digest(file, "sha256").hexdigest())


FileStamp = tuple[int, int, int]
"""Of a file that is replaced as a whole: another one after each replacement."""


def file_stamp(path: Path) -> FileStamp | None:
    """None while there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def opened_here(path: str, flags: int) -> int:
    """An opener that follows no symbolic link."""
    try:
        return with_more_files(path, lambda: os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666))
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise _link_refused(path) from error


def _link_refused(path: str | Path) -> PhraseIndexError:
    return PhraseIndexError(
        f"'{path}' is a symbolic link, and an index follows none; remove it and run the same command again."
    )


class HashedFile:
    """A new file, the hash of what was written to it so far, and a CRC-32 of each block of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = BufferedWriter(FileIO(path, "wb", opener=opened_here), _BUFFER)
        self._digest = sha256()
        self.checksums: list[int] = []
        self.size = 0

    def write(self, data: Any) -> None:
        """Bytes, or an array as it lies in memory."""
        view = memoryview(data).cast("B") if len(data) else memoryview(b"")
        with naming(self._path):
            self._file.write(view)
        self._digest.update(view)
        self._checksum(view)
        self.size += len(view)

    def _checksum(self, view: memoryview) -> None:
        begun = self.size % BLOCK_BYTES
        if begun:
            self.checksums[-1] = zlib.crc32(view[: BLOCK_BYTES - begun], self.checksums[-1])
            view = view[BLOCK_BYTES - begun :]
        self.checksums += [zlib.crc32(view[at : at + BLOCK_BYTES]) for at in range(0, len(view), BLOCK_BYTES)]

    def finish(self) -> FileEntry:
        with naming(self._path):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        return FileEntry(self.size, self._digest.hexdigest())

    def abandon(self) -> None:
        """Close without writing what is still in the buffer."""
        with suppress(OSError):
            self._file.raw.close()


def open_hashed(folder: Path, names: Iterable[str]) -> dict[str, HashedFile]:
    """New files in a folder; if one cannot be opened, none stays open."""
    files: dict[str, HashedFile] = {}
    try:
        for name in names:
            files[name] = HashedFile(folder / name)
    except BaseException:
        for file in files.values():
            file.abandon()
        raise
    return files


def replace_json(path: Path, values: Any) -> None:
    """Replace a file as a whole. A link where its new content would be written is refused and stays."""
    if new_path(path).is_symlink():
        raise _link_refused(new_path(path))
    content = (json.dumps(values, indent=1) + "\n").encode()
    with replacing(path) as new, naming(new), BufferedWriter(FileIO(new, "wb", opener=opened_here)) as file:
        file.write(content)


@contextmanager
def full_disk_explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise DiskFullError(
            f"The disk is full while writing index '{folder}'; everything committed before is kept: "
            "free some space and run the same command again."
        ) from error
