"""Text files in any encoding, read as UTF-8; what is no text is refused early."""

import codecs
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from densephrases.errors import DataError
from densephrases.text.readers.encodings import HEAD, around_first, detect_encoding
from densephrases.text.readers.files import NOT_TEXT, OnOpen, open_file, read_whole

_MIXED = "densephrases.windows-1252"  # the name of an error handler


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not valid: files put together from several programs' output have some of Windows in UTF-8."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error(_MIXED, _as_windows)


@contextmanager
def open_decoded_lines(path: Path, on_open: OnOpen | None = None) -> Iterator["BufferedReader[Any]"]:
    """The lines of a text file as bytes of UTF-8, without a byte order mark."""
    with open_file(path, on_open) as file, BufferedReader(DecodedAsUtf8(file, path), HEAD) as lines:
        lines.peek(1)  # a binary file is refused here
        yield lines


@contextmanager
def open_decoded(path: Path, on_open: OnOpen | None = None) -> Iterator[TextIO]:
    """A text file as text; line ends are kept."""
    with open_decoded_lines(path, on_open) as file, TextIOWrapper(file, encoding="utf-8", newline="") as text:
        yield text


def read_decoded(path: Path, limit: int | None = None) -> str:
    """The whole of a text file."""
    with open_decoded_lines(path) as file:
        return read_whole(file, path, limit).decode()


def read_undecoded(path: Path, limit: int | None = None) -> bytes:
    """The whole of a text file whose encoding it may declare itself."""
    with open_file(path) as file:
        _encoding(file.peek(HEAD)[:HEAD], path)
        return read_whole(file, path, limit)


def decode(content: bytes) -> str:
    """Text by its mark, as UTF-8, or in the encoding that it seems to have."""
    encoding = detect_encoding(content[:HEAD])
    if encoding == "utf-8" and content[:HEAD].isascii():
        encoding = later_encoding(content)
    return content.decode(encoding or "cp1252", _MIXED)


def is_binary(path: Path) -> bool:
    """Whether the first 64 kB are no text."""
    with path.open("rb") as file:
        return detect_encoding(file.read(HEAD)) is None


class DecodedAsUtf8(RawIOBase):
    """Bytes of UTF-8. As long as all is ASCII, the encoding stays open: the first accent may come late."""

    def __init__(self, file: BinaryIO, path: Path, encoding: str | None = None) -> None:
        """`encoding` is that of the file, if it is known."""
        self._file, self._path = file, path
        self._decoder = None if encoding is None else codecs.getincrementaldecoder(encoding)(_MIXED)
        self._rest = memoryview(b"")
        self._begun = self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest and not self._ended:
            block = self._file.read(HEAD)
            self._ended = not block
            self._rest = memoryview(self._utf8(block))
        size = min(len(buffer), len(self._rest))
        memoryview(buffer).cast("B")[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def _utf8(self, block: bytes) -> bytes:
        if self._decoder is None and not (self._begun and block.isascii()):
            encoding = later_encoding(block) if self._begun else _encoding(block, self._path)
            if not (encoding == "utf-8" and block.isascii()):
                self._decoder = codecs.getincrementaldecoder(encoding)(_MIXED)
        self._begun = True
        if self._decoder is None:
            return block
        return self._decoder.decode(block, final=self._ended).encode()


def _encoding(head: bytes, path: Path) -> str:
    encoding = detect_encoding(head)
    if encoding is None:
        raise DataError(
            f"'{path}' is binary; expected text in any encoding, or a file with the suffix of its format.", NOT_TEXT
        )
    return encoding


def later_encoding(block: bytes) -> str:
    """Of a file that is text by its head: zeros in the middle of a file do not make it binary."""
    return detect_encoding(around_first(block, HEAD // 2, HEAD // 2).replace(b"\0", b"")) or "cp1252"
