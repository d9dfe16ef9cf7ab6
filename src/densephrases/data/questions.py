"""Questions to a whole collection, and the entries of JSON files that hold them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from densephrases.errors import DataError, first_line
from densephrases.json_input import parse_json
from densephrases.text.readers.files import UNREADABLE, read_text

Format = Literal[
    "lines", "nq-open", "webquestions", "trec", "triviaqa", "squad", "entityquestions", "dpr", "kilt", "beir"
]
FORMATS = ", ".join(get_args(Format))


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question, its answers, and the documents that are known to answer it.

    Attributes:
        answers: Gold answers, any of which is right; empty if only documents are judged.
        regex: Whether the answers are regular expressions.
        documents: Ids of relevant documents with their grades; empty if unknown.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    regex: bool = False
    documents: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A line or an entry of a file, for messages."""

    path: Path
    kind: str
    number: int

    def __str__(self) -> str:
        return f"'{self.path}', {self.kind} {self.number}"


Entry = tuple[FileLocation, Any]


def content_of(path: Path, formats: str = FORMATS) -> str:
    if not path.is_file():
        raise DataError(f"'{path}' is not a file; expected questions in one of the formats {formats}.")
    try:
        return read_text(path)
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or first_line(error)
        raise DataError(f"'{path}' cannot be read: {reason}.") from error


def json_lines(path: Path) -> Iterator[Entry]:
    for number, line in enumerate(content_of(path).split("\n"), start=1):
        if line.strip():
            place = FileLocation(path, "line", number)
            try:
                yield place, parse_json(line)
            except ValueError as error:
                raise DataError(f"{place} is not JSON: {error}.") from error


def json_list(path: Path, key: str | None = None) -> Iterator[Entry]:
    """The entries of a list, or of the list under a key of an object."""
    try:
        content = parse_json(content_of(path))
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"'{path}' is not JSON: {error}.") from error
    if key is not None:
        content = content.get(key) if isinstance(content, dict) else None
    if not isinstance(content, list):
        raise DataError(f"'{path}' holds no list{f' under {key!r}' if key else ''} of questions.")
    for number, entry in enumerate(content, start=1):
        yield FileLocation(path, "entry", number), entry
