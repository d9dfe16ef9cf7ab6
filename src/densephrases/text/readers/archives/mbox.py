"""Mailboxes (mbox): each message a document, read one at a time."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from densephrases.errors import DataError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.archives.mail import message_document
from densephrases.text.readers.files import OnOpen, open_file
from densephrases.text.readers.limits import MAX_DOCUMENT, too_large

_BEGIN = re.compile(rb"From \S.* \d\d:\d\d.* \d{4}|From - ")  # the line before each message: sender and time
_QUOTED = re.compile(rb">+From ")


def read_mbox(
    path: Path, name: str, on_open: OnOpen | None = None, limit: int = MAX_DOCUMENT
) -> Iterator[Document | Skipped]:
    """Ids are the numbers of the messages: 'name#3'."""
    with open_file(path, on_open) as file:
        for number, content in enumerate(_messages(file, path, limit), start=1):
            place = f"{path}, message {number}"
            if content is None:
                yield Skipped(place, f"{too_large(limit)}.")
                continue
            try:
                yield message_document(content, f"{name}#{number}", path)
            except DataError as error:
                yield Skipped(place, str(error).removeprefix(f"'{path}' "))


def _messages(file: BinaryIO, path: Path, limit: int) -> Iterator[bytes | None]:
    """The bytes of each message; none of one above the limit."""
    line = file.readline(limit + 1)
    if not line.startswith(b"From "):
        raise DataError(f"'{path}' is not a mailbox: it does not begin with a line 'From '.")
    lines: list[bytes] = []
    size, is_after_blank = 0, False
    while line := file.readline(limit + 1):
        if is_after_blank and _BEGIN.match(line):
            yield b"".join(lines) if size <= limit else None
            lines, size = [], 0
            continue
        size += len(line)
        if size <= limit:
            lines.append(line[1:] if _QUOTED.match(line) else line)
        is_after_blank = not line.strip()
    yield b"".join(lines) if size <= limit else None
