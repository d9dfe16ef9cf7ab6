"""Documents as JSON objects: one a line, in a list, or one after another.

An object has "text" (a string) or "paragraphs" (strings, joined by a blank line), and may have "id", "title" and
"metadata" (an object). Every other key goes to the metadata, as the other columns of a table do, so that files made
for other programs can be read as they are.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.files import Opened, open_lines, open_text

_KNOWN = {"id", "title", "text", "paragraphs", "metadata"}
_CHUNK = 1 << 16
_SPACE = " \t\r\n"


def read_json_lines(path: Path, name: str, opened: Opened | None = None) -> Iterator[Document | Skipped]:
    """One document a line, never more than a line in memory; one without an id is called by its line: 'name#3'."""
    with open_lines(path, opened) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield _line_document(line, f"{path}, line {number}", f"{name}#{number}")


def _line_document(line: bytes, place: str, name: str) -> Document | Skipped:
    try:
        record = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        return Skipped(place, f"is not JSON: {error}.")
    return _document(record, place, name)


def read_json(path: Path, name: str, opened: Opened | None = None) -> Iterator[Document | Skipped]:
    """One object, a list of objects, or objects one after another, read piece by piece; ids as for lines."""
    with open_text(path, opened) as file:
        number = 0
        try:
            for number, record in enumerate(_objects(file), start=1):
                yield _document(record, f"{path}, object {number}", f"{name}#{number}")
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", error)  # without the position, which counts from the last chunk
            raise DataError(f"'{path}' is not JSON after {number} objects: {reason}.") from error


def _document(record: Any, place: str, name: str) -> Document | Skipped:
    try:
        if not isinstance(record, dict):
            raise ValueError(f"is {type(record).__name__}, expected an object")
        metadata = _metadata(record)
        return Document(_id(record) or name, _text(record), _string(record, "title"), metadata)
    except ValueError as error:
        return Skipped(place, f"is no document: it {error}.")


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
        json.dumps(metadata, ensure_ascii=False).encode()  # half a surrogate pair is valid JSON but no text
    return metadata


def _string(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"has '{key}' of type {type(value).__name__}, expected a string")
    return value


def _objects(file: TextIO) -> Iterator[Any]:
    stream = _Stream(file)
    if stream.peek() == "[":
        yield from _listed(stream)
    while stream.peek() == "{":
        yield stream.take_object()
    if stream.peek():
        raise json.JSONDecodeError("an object or a list of objects was expected", stream.peek(), 0)


def _listed(stream: "_Stream") -> Iterator[Any]:
    stream.take("[")
    if stream.peek() != "]":
        yield stream.take_object()
        while stream.peek() == ",":
            stream.take(",")
            yield stream.take_object()
    stream.take("]")


class _Stream:
    """JSON read in chunks; holds the unread rest of the last one and grows only while an object does not end."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._rest = ""
        self._decoder = json.JSONDecoder()

    def peek(self) -> str:
        """The next character that is no space; nothing at the end."""
        while not (rest := self._rest.lstrip(_SPACE)):
            if not (rest := self._file.read(_CHUNK)):
                return ""
            self._rest = rest
        self._rest = rest
        return rest[0]

    def take(self, character: str) -> None:
        if self.peek() != character:
            raise json.JSONDecodeError(f"'{character}' was expected, found '{self.peek()}'", self._rest, 0)
        self._rest = self._rest[1:]

    def take_object(self) -> Any:
        if self.peek() != "{":
            raise json.JSONDecodeError(f"an object was expected, found '{self.peek()}'", self._rest, 0)
        size = _CHUNK
        while True:
            try:
                value, end = self._decoder.raw_decode(self._rest)
            except json.JSONDecodeError as error:
                if _is_final(error, len(self._rest)) or not (more := self._file.read(size)):
                    raise
                self._rest += more
                size *= 2  # a long object is tried again only a few times
            else:
                self._rest = self._rest[end:]
                return value


def _is_final(error: json.JSONDecodeError, length: int) -> bool:
    """Whether more input cannot mend it: only what is cut off at the end can go on."""
    return not error.msg.startswith("Unterminated") and error.pos < length - len('"\\uD83D\\uDE00')
