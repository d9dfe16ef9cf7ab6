"""Text files on disk: found in folders, read and written plain or compressed, refused early if they are binary."""

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from densephrases.atomic_files import replace_file
from densephrases.errors import DataError

UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError)  # what reading any file may raise

OnOpen = Callable[[BinaryIO], None]  # called with the file on disk, whose tell() counts compressed bytes

_OPENERS: dict[str, Callable[[BinaryIO, str], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),  # equal content gives equal files
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
_DUMP_PART = re.compile(r"(?<=\.xml)-p\d+p\d+$")  # parts of a Wikipedia dump: x.xml-p1p41242.bz2
_HEAD = 1 << 16


@contextmanager
def open_file(path: Path, on_open: OnOpen | None = None) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed if its suffix is .gz, .xz or .bz2."""
    with path.open("rb") as file:
        if on_open is not None:
            on_open(file)
        opener = _OPENERS.get(path.suffix.lower())
        if opener is None:
            yield file
        else:
            with opener(file, "rb") as decompressed:
                yield decompressed


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically, compressed as its suffix says."""
    compress = _COMPRESSORS.get(path.suffix.lower(), bytes)
    replace_file(path, compress(content))


def refuse_missing_folder(path: Path | None) -> None:
    """Fail before the work rather than after it if the file cannot be written."""
    if path is not None and not path.parent.is_dir():
        raise DataError(f"'{path}' cannot be written: its folder does not exist; create it first.")


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() in _OPENERS


def is_binary(path: Path) -> bool:
    """Whether the first 64 kB contain a null byte."""
    with path.open("rb") as file:
        return b"\0" in file.read(_HEAD)


def split_name(path: Path) -> tuple[str, str]:
    """Stem and format suffix in lower case, without a compression suffix: 'A.TXT.gz' gives 'A', '.txt'."""
    name = path.stem if is_compressed(path) else path.name
    inner = Path(_DUMP_PART.sub("", name))
    return inner.stem, inner.suffix.lower()


def walk(folder: Path) -> Iterator[Path]:
    """All files below a folder, sorted within each folder; hidden files and folders are skipped.

    Links to folders may form a cycle: they are yielded like files, not followed.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        yield folder  # reading it reports the error
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from walk(entry)
        else:
            yield entry


def read_text(path: Path) -> str:
    """The whole of a UTF-8 file, unchanged except for a byte order mark."""
    with _open_checked(path) as file:
        head = file.read(_HEAD)
        codecs.getincrementaldecoder("utf-8")().decode(head)  # fails here rather than after gigabytes
        return (head + file.read()).decode("utf-8-sig")


def read_bytes(path: Path) -> bytes:
    """The whole of a text file in any encoding without null bytes."""
    with _open_checked(path) as file:
        return file.read()


@contextmanager
def open_lines(path: Path, on_open: OnOpen | None = None) -> Iterator[BinaryIO]:
    """A UTF-8 file to read line by line, past a byte order mark."""
    with _open_checked(path, on_open) as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        yield file


@contextmanager
def open_text(path: Path, on_open: OnOpen | None = None) -> Iterator[TextIO]:
    """A UTF-8 file as text; line ends are kept."""
    with open_lines(path, on_open) as file, TextIOWrapper(file, encoding="utf-8", newline="") as text:
        yield text


@contextmanager
def _open_checked(path: Path, on_open: OnOpen | None = None) -> Iterator[BinaryIO]:
    """Refuse a binary file after its first 64 kB."""
    with open_file(path, on_open) as file:
        if b"\0" in file.read(_HEAD):
            raise DataError(f"'{path}' is binary or not UTF-8; expected text in UTF-8.")
        file.seek(0)
        yield file
