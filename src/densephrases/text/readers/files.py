"""Files on disk: found in folders, opened whether compressed or not, and known to be text before they are read."""

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

from densephrases.errors import DataError

UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError)  # what reading any file may raise

Opened = Callable[[BinaryIO], None]  # is given the file as it lies on the disk, whose tell() says how far it is read

_OPENERS: dict[str, Callable[[BinaryIO, str], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),  # with no time in its head the same text is the same file
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
_DUMP_PART = re.compile(r"(?<=\.xml)-p\d+p\d+$")  # the parts of a Wikipedia dump are called x.xml-p1p41242.bz2
_HEAD = 1 << 16


@contextmanager
def open_file(path: Path, opened: Opened | None = None) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed if its suffix is .gz, .xz or .bz2."""
    with path.open("rb") as file:
        if opened is not None:
            opened(file)
        opener = _OPENERS.get(path.suffix.lower())
        if opener is None:
            yield file
        else:
            with opener(file, "rb") as decompressed:
                yield decompressed


def write_file(path: Path, content: bytes) -> None:
    """As `open_file` reads it again; under its name the file is whole or not there."""
    compress = _COMPRESSORS.get(path.suffix.lower(), bytes)
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(compress(content))
    partial.rename(path)


def refuse_missing_folder(path: Path | None) -> None:
    """That a file cannot be written is said before the work, not after it."""
    if path is not None and not path.parent.is_dir():
        raise DataError(f"Nothing can be written to '{path}': its folder does not exist; create it first.")


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() in _OPENERS


def is_binary(path: Path) -> bool:
    """Whether it is a film rather than a text, by a look at its beginning."""
    with path.open("rb") as file:
        return b"\0" in file.read(_HEAD)


def split_name(path: Path) -> tuple[str, str]:
    """Stem and format suffix in lower case, without the suffix of a compression: 'A.TXT.gz' gives 'A', '.txt'."""
    name = path.stem if is_compressed(path) else path.name
    inner = Path(_DUMP_PART.sub("", name))
    return inner.stem, inner.suffix.lower()


def walk(folder: Path) -> Iterator[Path]:
    """All files below a folder, each folder's in the order of their names; hidden ones and their folders left out.

    Links to folders are not followed, since they may lead round in a circle: they are given like files.
    """
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        yield folder  # whoever tries to read it learns why it cannot be
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from walk(entry)
        else:
            yield entry


def read_text(path: Path) -> str:
    """The whole of a UTF-8 file as it stands, without a byte order mark."""
    with _open_checked(path) as file:
        head = file.read(_HEAD)
        codecs.getincrementaldecoder("utf-8")().decode(head)  # fails here rather than after gigabytes
        return (head + file.read()).decode("utf-8-sig")


def read_bytes(path: Path) -> bytes:
    """The whole of a text file in any encoding without null bytes."""
    with _open_checked(path) as file:
        return file.read()


@contextmanager
def open_lines(path: Path, opened: Opened | None = None) -> Iterator[BinaryIO]:
    """A file of UTF-8 text to be read line by line, after a byte order mark."""
    with _open_checked(path, opened) as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        yield file


@contextmanager
def open_text(path: Path, opened: Opened | None = None) -> Iterator[TextIO]:
    """A file of UTF-8 text whose line ends are left as they are."""
    with open_lines(path, opened) as file, TextIOWrapper(file, encoding="utf-8", newline="") as text:
        yield text


@contextmanager
def _open_checked(path: Path, opened: Opened | None = None) -> Iterator[BinaryIO]:
    """Looks at the beginning first: a film of many gigabytes is refused without being read."""
    with open_file(path, opened) as file:
        if b"\0" in file.read(_HEAD):
            raise DataError(f"'{path}' is binary or not UTF-8; expected text in UTF-8.")
        file.seek(0)
        yield file
