"""Files that are replaced as a whole: whatever happens in between, a reader finds the old content or the new."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def replace_file(path: Path, content: bytes | str) -> None:
    with replacing(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder as lasting as its files; where folders cannot be opened, the system does it."""
    if os.name != "nt":
        _sync(folder, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    """Windows syncs a file only if it is open for writing, other systems open a folder only for reading."""
    number = os.open(path, flags)
    try:
        os.fsync(number)
    finally:
        os.close(number)
