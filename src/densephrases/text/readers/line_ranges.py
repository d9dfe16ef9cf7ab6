"""Ranges of lines of a large file, so that several processes read it as one would: the same lines, the same numbers.

Only plain files in UTF-8 are cut. The encoding of a file is told by all of it up to the first accent, and a file with
too many blank lines is given up in the middle, so that others are read whole.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import Any, NamedTuple

from densephrases.text.readers.decoded import DecodedAsUtf8, later_encoding
from densephrases.text.readers.encodings import HEAD, detect_encoding
from densephrases.text.readers.files import OnOpen, is_compressed, split_name
from densephrases.text.readers.limits import MOST_BLANK

_CUT = (".jsonl", ".ndjson")
_MARK = 3  # bytes of a byte order mark
_BLANK = HEAD // 2  # bytes: more blank lines than are allowed fill at least one such block


@dataclass(frozen=True, slots=True)
class LineRange:
    """Whole lines from byte `start` to byte `stop`; `before` lines of the file come before them."""

    start: int
    stop: int
    before: int = 0


class Cut(NamedTuple):
    """The end of a line that is not blank."""

    offset: int
    lines: int  # up to there


def cuts(path: Path) -> list[Cut] | None:
    """Where a file may be cut, about every 64 kB, from its first byte of text to its last; None if it must not be."""
    assert MOST_BLANK >= 2 * _BLANK
    if is_compressed(path) or split_name(path)[1] not in _CUT:
        return None
    with BufferedReader(FileIO(path), HEAD) as file:
        return _Scan().run(file)


class _Scan:
    """Goes once through a file, in the blocks by which it would be decoded."""

    def __init__(self) -> None:
        self._encoding = ""
        self._decided = False
        self._size = self._lines = 0
        self._found: list[Cut] = []
        self._blank_since = False  # all that comes after the last cut is blank

    def run(self, file: "BufferedReader[Any]") -> list[Cut] | None:
        while block := file.read(HEAD):
            if not self._is_utf8(block) or any(block[at : at + _BLANK].isspace() for at in (0, _BLANK)):
                return None
            if not self._found:
                mark = _MARK if self._encoding == "utf-8-sig" else 0
                self._found.append(Cut(mark, 0))
                block = b" " * mark + block[mark:]  # else a line of it alone would not be blank
            self._add(block)
        if self._blank_since and len(self._found) > 1:
            self._found.pop()
        return [*self._found, Cut(self._size, self._lines)] if self._found else None

    def _is_utf8(self, block: bytes) -> bool:
        """By the rules of `DecodedAsUtf8`."""
        begun = self._size > 0
        if not self._decided and not (begun and block.isascii()):
            self._encoding = later_encoding(block) if begun else detect_encoding(block) or ""
            self._decided = not (self._encoding == "utf-8" and block.isascii())
        return self._encoding in ("utf-8", "utf-8-sig")

    def _add(self, block: bytes) -> None:
        """Cut after the last line that ends in the block and is not blank."""
        text = block[: block.rfind(b"\n") + 1].rstrip()
        if text:
            end = block.find(b"\n", len(text)) + 1
            self._found.append(Cut(self._size + end, self._lines + block.count(b"\n", 0, end)))
            self._blank_since = not block[end:].strip()
        else:
            self._blank_since = self._blank_since and not block.strip()
        self._lines += block.count(b"\n")
        self._size += len(block)


class _Section(RawIOBase):
    """The bytes of a range."""

    def __init__(self, file: FileIO, lines: LineRange) -> None:
        file.seek(lines.start)
        self._file = file
        self._left = lines.stop - lines.start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(memoryview(buffer)[: self._left]) or 0
        self._left -= count
        return count


@contextmanager
def open_line_range(path: Path, lines: LineRange, on_open: OnOpen | None = None) -> Iterator["BufferedReader[Any]"]:
    """The lines of a range as bytes of UTF-8."""
    with FileIO(path) as file, BufferedReader(_Section(file, lines), HEAD) as section:
        if on_open is not None:
            on_open(section)
        with BufferedReader(DecodedAsUtf8(section, path, "utf-8"), HEAD) as decoded:
            yield decoded
