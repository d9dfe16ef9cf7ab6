"""Files that are replaced as a whole: whatever happens in between, a reader finds the old content or the new."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ATTEMPTS = 100 if os.name == "nt" else 1  # Windows replaces no file that someone is reading
_PAUSE = 0.02
_NOT_SYNCED = (errno.EINVAL, errno.ENOTSUP)  # of some network drives, which sync folders themselves


def new_path(path: Path) -> Path:
    """Where the new content of a file is until it is complete; a killed process leaves it there."""
    return path.with_name(f".{path.name}.new")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside the file to write the new content to; it takes the file's place if nothing fails."""
    new = new_path(path)
    try:
        yield new
        _sync(new, os.O_RDWR)
        _replace(new, path)
    except BaseException:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def replace_file(path: Path, content: bytes | str) -> None:
    with replacing(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, as lasting as their names can be made."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in reversed(missing):
        with suppress(PermissionError):  # who may write to a folder may not always read it
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as lasting as its files; where folders cannot be opened, the system does it."""
    if os.name == "nt":
        return
    try:
        _sync(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno not in _NOT_SYNCED:
            raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of writing and syncing, which the system reports without."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def _replace(new: Path, path: Path) -> None:
    for _ in range(_ATTEMPTS - 1):
        try:
            new.replace(path)
        except PermissionError:
            time.sleep(_PAUSE)
        else:
            return
    new.replace(path)


def _sync(path: Path, flags: int) -> None:
    """Windows syncs a file only if it is open for writing, other systems open a folder only for reading."""
    number = os.open(path, flags)
    try:
        with naming(path):
            os.fsync(number)
    finally:
        os.close(number)
