"""Documents as JSON objects: one per line, in an array, or one after another.

An object has "text" (a string) or "paragraphs" (strings, joined by blank lines) and optionally "id", "title" and
"metadata" (an object). All other keys go to the metadata, as do the other columns of a table, so that files made for
other programs can be read unchanged.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from densephrases.errors import DataError
from densephrases.json_input import MOST_NESTED, parse_json, refuse_constant
from densephrases.text.documents import Document, Skipped, metadata_json
from densephrases.text.readers.decoded import open_decoded, open_decoded_lines
from densephrases.text.readers.files import OnOpen
from densephrases.text.readers.limits import MAX_DOCUMENT, MOST_BLANK, MOST_VALUES, TOO_LARGE, too_large
from densephrases.text.readers.line_ranges import LineRange, open_line_range

_KNOWN = {"id", "title", "text", "paragraphs", "metadata"}
_CHUNK = 1 << 16
_LARGE = 1 << 20
_SIGN = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[][{},]', re.DOTALL)  # a string, or what separates values
_VISIBLE = re.compile(r"[^ \t\r\n]")


def read_json_lines(
    path: Path,
    name: str,
    on_open: OnOpen | None = None,
    limit: int = MAX_DOCUMENT,
    lines: LineRange | None = None,
) -> Iterator[Document | Skipped]:
    """One document per line, one line in memory at a time. A missing id becomes the line number: 'name#3'."""
    with open_decoded_lines(path, on_open) if lines is None else open_line_range(path, lines, on_open) as file:
        number, blank = 0 if lines is None else lines.before, 0
        while line := file.readline(limit + 1):
            number += 1
            blank = 0 if line.strip() else blank + 1
            if blank > MOST_BLANK:
                raise DataError(f"'{path}', line {number}, follows {MOST_BLANK:,} blank lines.")
            place = f"{path}, line {number}"
            if len(line) > limit:
                yield Skipped(place, f"{too_large(limit)}.", TOO_LARGE)
                _pass_line(line, file, limit)
            elif not blank:
                yield _line_document(line, place, f"{name}#{number}")


def _pass_line(line: bytes, file: BinaryIO, limit: int) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(limit)


def _line_document(line: bytes, place: str, name: str) -> Document | Skipped:
    try:
        record = parse_json(line, MOST_VALUES)
    except ValueError as error:
        return Skipped(place, f"is not JSON: {error}.")
    return _document(record, place, name)


def read_json(
    path: Path, name: str, on_open: OnOpen | None = None, limit: int = MAX_DOCUMENT
) -> Iterator[Document | Skipped]:
    """One object, an array of objects, or objects one after another, read in chunks; ids as for lines."""
    with open_decoded(path, on_open) as file:
        number = 0
        try:
            for number, record in enumerate(_objects(file, limit), start=1):
                yield _document(record, f"{path}, object {number}", f"{name}#{number}")
        except _TooLargeError as error:
            raise DataError(f"'{path}', object {number + 1}, {error}.") from error
        except ValueError as error:
            reason = str(
                getattr(error, "msg", error)
            )  # without the position, which counts from the start of the buffer
            raise DataError(f"'{path}' is not JSON after {number} objects: {reason.removesuffix(' at')}.") from error


class _TooLargeError(ValueError):
    pass


def _document(record: Any, place: str, name: str) -> Document | Skipped:
    try:
        if not isinstance(record, dict):
            raise ValueError(f"is {type(record).__name__}, expected an object")
        metadata = _metadata(record)
        return Document(_id(record) or name, _text(record), _string(record, "title"), metadata)
    except ValueError as error:
        return Skipped(place, f"is not a document: it {error}.")


def _id(record: dict[str, Any]) -> str:
    value = record.get("id")
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _string(record, "id")


def _text(record: dict[str, Any]) -> str:
    if ("text" in record) == ("paragraphs" in record):
        raise ValueError(f"has the keys {sorted(record)}, expected either 'text' or 'paragraphs'")
    if "text" in record:
        return _string(record, "text")
    paragraphs = record["paragraphs"]
    if not isinstance(paragraphs, list) or not all(isinstance(paragraph, str) for paragraph in paragraphs):
        raise ValueError("has 'paragraphs' that are not a list of strings")
    return "\n\n".join(paragraphs)


def _metadata(record: dict[str, Any]) -> dict[str, Any]:
    given = record.get("metadata") or {}
    if not isinstance(given, dict):
        raise ValueError(f"has 'metadata' of type {type(given).__name__}, expected an object")
    metadata = {key: value for key, value in record.items() if key not in _KNOWN} | given
    if metadata:
        metadata_json(metadata)
    return metadata


def _string(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"has '{key}' of type {type(value).__name__}, expected a string")
    return value


def _objects(file: TextIO, limit: int) -> Iterator[Any]:
    stream = _Stream(file, limit)
    if stream.accept("["):
        yield from _listed(stream)
    while stream.peek() == "{":
        yield stream.take_object()
    if found := stream.peek():
        raise json.JSONDecodeError(f"expected an object or an array of objects, found '{found}'", "", 0)


def _listed(stream: "_Stream") -> Iterator[Any]:
    if stream.accept("]"):
        return
    yield stream.take_object()
    while stream.accept(","):
        yield stream.take_object()
    if not stream.accept("]"):
        raise json.JSONDecodeError(f"expected ',' or ']' after an object, found '{stream.peek()}'", "", 0)


class _Stream:
    """JSON read in chunks. Memory holds the unread rest of the last chunk and grows only while an object does not end.

    Objects are decoded in place and the buffer is cut only when more is read: work is linear in the file. An object
    that the buffer cuts off is decoded again once the buffer has doubled, so it costs at most three times its length.
    """

    def __init__(self, file: TextIO, limit: int) -> None:
        self._file = file
        self._limit = limit
        self._buffer = ""
        self._position = 0
        self._decoder = json.JSONDecoder(parse_constant=refuse_constant)

    def peek(self) -> str:
        """The next character that is not white space, or nothing at the end."""
        while True:
            if visible := _VISIBLE.search(self._buffer, self._position):
                self._position = visible.start()
                return visible[0]
            self._position = len(self._buffer)
            if not self._read(_CHUNK):
                return ""

    def accept(self, character: str) -> bool:
        """Step over the next character if it is this one."""
        found = self.peek() == character
        self._position += found
        return found

    def take_object(self) -> Any:
        if self.peek() != "{":
            raise json.JSONDecodeError(f"expected an object, found '{self.peek()}'", "", 0)
        while True:
            try:
                self._refuse_excess()
                value, self._position = self._decoder.raw_decode(self._buffer, self._position)
            except json.JSONDecodeError as error:
                unread = len(self._buffer) - self._position
                if unread > self._limit:
                    raise _TooLargeError(too_large(self._limit)) from error
                if _is_final(error, len(self._buffer)) or not self._read(max(_CHUNK, unread)):
                    raise
            except RecursionError as error:
                raise ValueError("an object is nested too deeply") from error
            else:
                return value

    def _refuse_excess(self) -> None:
        """Look through a large object before it is decoded: a list of empty lists takes 24 times its length."""
        if len(self._buffer) - self._position <= _LARGE:
            return
        values = deep = 0
        for sign in _SIGN.finditer(self._buffer, self._position):
            match sign[0][0]:
                case "{" | "[":
                    values, deep = values + 1, deep + 1
                case ",":
                    values += 1
                case "}" | "]":
                    deep -= 1
            if values > MOST_VALUES or deep > MOST_NESTED:
                raise ValueError(f"an object has more than {MOST_VALUES:,} values or {MOST_NESTED} levels")
            if not deep:
                return

    def _read(self, size: int) -> bool:
        """Append up to `size` characters to the unread rest."""
        more = self._file.read(size)
        self._buffer = self._buffer[self._position :] + more
        self._position = 0
        return bool(more)


def _is_final(error: json.JSONDecodeError, length: int) -> bool:
    """Whether more input cannot mend it: only an error at the end of the buffer may come from a cut."""
    return not error.msg.startswith("Unterminated") and error.pos < length - len('"\\uD83D\\uDE00')
