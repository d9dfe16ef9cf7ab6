"""Objects of a list in a JSON file of any length, one at a time."""

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from densephrases.errors import DataError

_BLOCK = 1 << 20
_MOST = 1 << 28  # characters of one object
_DECODER = json.JSONDecoder()


def objects_under(file: IO[bytes], key: str, source: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of the list under a key of the file's object; the file is named in errors."""
    text = codecs.getreader("utf-8")(file)
    rest = _after_key(text, key, source)
    while True:
        rest = rest.lstrip(" \t\r\n,")
        if rest.startswith("]"):
            return
        try:
            entry, end = _DECODER.raw_decode(rest)
        except ValueError as error:
            block = text.read(_BLOCK)
            if not block or len(rest) > _MOST:
                raise DataError(
                    f"'{source}' ends inside the list under '{key}', or it is not JSON: {error}."
                ) from error
            rest += block
            continue
        if not isinstance(entry, dict):
            raise DataError(f"'{source}' has {type(entry).__name__} under '{key}', expected objects.")
        yield entry
        rest = rest[end:]


def _after_key(text: codecs.StreamReader, key: str, source: Path) -> str:
    """What follows the opening bracket of the list."""
    begins = re.compile(rf'"{re.escape(key)}"\s*:\s*\[')
    head = ""
    while (found := begins.search(head)) is None:
        block = text.read(_BLOCK)
        if not block or len(head) > _MOST:
            raise DataError(f"'{source}' holds no list under '{key}'.")
        head += block
    return head[found.end() :]
