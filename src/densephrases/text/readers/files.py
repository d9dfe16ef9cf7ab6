"""Text files on disk: found in folders, read and written plain or compressed, refused early if they are binary."""

import bz2
import codecs
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

from densephrases.atomic_files import replace_file
from densephrases.errors import DataError
from densephrases.text.readers.limits import FREE_EXPANSION, MOST_EXPANSION, TOO_LARGE, too_large

UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError)  # what reading any file may raise

Wanted = Callable[[Path, bool], bool]
OnOpen = Callable[[BinaryIO], None]  # called with the file on disk, whose tell() counts compressed bytes

NOT_TEXT = "not text"  # kind of a file that is skipped

_COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, mtime=0),  # equal content gives equal files
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
_DUMP_PART = re.compile(r"(?<=\.xml)-p\d+p\d+$")  # parts of a Wikipedia dump: x.xml-p1p41242.bz2
_HEAD = 1 << 16
_BLOCK = 1 << 20
_XZ_MEMORY = 1 << 28  # bytes; `xz -9` needs 65 MiB, and a file may ask for 4 GiB


@contextmanager
def open_file(path: Path, on_open: OnOpen | None = None) -> Iterator["BufferedReader[Any]"]:
    """The bytes of a file, decompressed if its suffix is .gz, .xz or .bz2; a decompression bomb raises DataError."""
    with BufferedReader(FileIO(path), _HEAD) as file:
        if on_open is not None:
            on_open(file)
        opener = _OPENERS.get(path.suffix.lower())
        if opener is None:
            yield file
        else:
            with opener(file) as decompressed, BufferedReader(_Bounded(decompressed, file, path), _HEAD) as bounded:
                yield bounded


class _Bounded(RawIOBase):
    """Decompressed bytes, as long as they are in proportion to the compressed ones."""

    def __init__(self, decompressed: Any, file: BinaryIO, path: Path) -> None:
        self._decompressed, self._file, self._path = decompressed, file, path
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer unless the file ends, so that `peek` shows all of it."""
        view, filled = memoryview(buffer).cast("B"), 0
        while filled < len(view) and (count := self._decompressed.readinto(view[filled:])):
            filled += count
        self._read += filled
        if self._read > FREE_EXPANSION and self._read > MOST_EXPANSION * self._file.tell():
            raise DataError(
                f"'{self._path}' expands to more than {MOST_EXPANSION} times its size, as no text does; "
                "decompress it yourself if it is no bomb."
            )
        return filled


class _Xz(RawIOBase):
    """As `lzma.open`, which has no limit on the memory that the file asks for."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decompressor: lzma.LZMADecompressor | None = None
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._decompressor is None and not self._begin():
                return 0
            assert self._decompressor is not None
            if self._decompressor.needs_input and not self._rest:
                self._rest = self._file.read(_HEAD)
                if not self._rest:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            given, self._rest = self._rest, b""
            content = self._decompressor.decompress(given, max_length=len(buffer))
            if self._decompressor.eof:
                self._rest, self._decompressor = self._decompressor.unused_data, None
            if content:
                buffer[: len(content)] = content
                return len(content)

    def _begin(self) -> bool:
        """Whether another stream follows, after padding."""
        rest = self._rest.lstrip(b"\0")
        while not rest and (block := self._file.read(_HEAD)):
            rest = block.lstrip(b"\0")
        self._rest = rest
        if rest:
            self._decompressor = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        return bool(rest)


_OPENERS: dict[str, Callable[[BinaryIO], Any]] = {".gz": gzip.open, ".xz": _Xz, ".bz2": bz2.open}


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


def split_name(path: Path) -> tuple[str, str]:
    """Stem and format suffix in lower case, without a compression suffix: 'A.TXT.gz' gives 'A', '.txt'."""
    name = path.stem if is_compressed(path) else path.name
    inner = Path(_DUMP_PART.sub("", name))
    return inner.stem, inner.suffix.lower()


def walk(folder: Path, *, follow_links: bool = False, wanted: Wanted | None = None) -> Iterator[Path]:
    """All files below a folder, sorted within each folder; hidden files and folders are skipped.

    A link to a folder is yielded like a file, or entered if links are followed, each folder once: links may form a
    cycle. `wanted` decides for each file and folder, given whether it is a folder, in place of the rule on hidden ones.
    """
    ahead = [(folder, True)]
    entered = set()
    while ahead:
        entry, is_folder = ahead.pop()
        if not is_folder:
            yield entry
            continue
        try:
            if follow_links:
                place = entry.resolve()
                if place in entered:
                    continue
                entered.add(place)
            inner = sorted(entry.iterdir(), reverse=True)
        except OSError:
            yield entry  # reading it reports the error
            continue
        found = [(path, _is_folder(path, follow_links=follow_links)) for path in inner]
        ahead.extend(each for each in found if (wanted or _is_visible)(*each))


def _is_visible(path: Path, is_folder: bool) -> bool:
    return not path.name.startswith(".")


def _is_folder(path: Path, *, follow_links: bool) -> bool:
    try:
        return path.is_dir() and (follow_links or not path.is_symlink())
    except OSError:  # reading it reports the error
        return False


def read_text(path: Path, limit: int | None = None) -> str:
    """The whole of a UTF-8 file, unchanged except for a byte order mark."""
    with _open_checked(path) as file:
        codecs.getincrementaldecoder("utf-8")().decode(file.peek(_HEAD))  # fails here rather than after gigabytes
        return read_whole(file, path, limit).decode("utf-8-sig")


def read_whole(file: BinaryIO, path: Path, limit: int | None = None) -> bytes:
    """All that is left of a file, refused as soon as it passes the limit."""
    blocks, size = [], 0
    while block := file.read(_BLOCK):
        size += len(block)
        if limit is not None and size > limit:
            raise DataError(f"'{path}' {too_large(limit)}.", TOO_LARGE)
        blocks.append(block)
    return b"".join(blocks)


@contextmanager
def open_lines(path: Path, on_open: OnOpen | None = None) -> Iterator["BufferedReader[Any]"]:
    """A UTF-8 file to read line by line, past a byte order mark."""
    with _open_checked(path, on_open) as file:
        if file.peek(_HEAD).startswith(codecs.BOM_UTF8):
            file.read(len(codecs.BOM_UTF8))
        yield file


@contextmanager
def _open_checked(path: Path, on_open: OnOpen | None = None) -> Iterator["BufferedReader[Any]"]:
    """Refuse a binary file after its first 64 kB."""
    with open_file(path, on_open) as file:
        if b"\0" in file.peek(_HEAD):
            raise DataError(f"'{path}' is binary or not UTF-8; expected text in UTF-8.", NOT_TEXT)
        yield file
