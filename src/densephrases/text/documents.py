"""What is indexed: a text with an id, a title and metadata."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

from densephrases.json_input import MOST_NESTED, depth
from densephrases.text.layout import NO_LAYOUT, Layout

_COMPRESSIONS = ("gz", "xz", "bz2")
_LATEST = 253_402_300_799 * 10**9  # nanoseconds: the end of the year 9999


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The file that a document came from.

    Attributes:
        root: Name of the folder that was given to be read.
        path: Below this folder, with slashes.
        modified_ns: Nanoseconds since 1970, when it was last modified.
        size: In bytes.
        folder: Where the root is on this machine. An index keeps it once, not with each document.
        prefix: Of the ids of its documents, before their path.
    """

    root: str
    path: str
    modified_ns: int
    size: int
    folder: str = field(default="", compare=False)
    prefix: str = field(default="", compare=False)

    @property
    def type(self) -> str:
        """The suffix in lower case, without that of a compression: 'A.TXT.gz' gives 'txt'."""
        stem, _, suffix = self.path.rpartition("/")[2].rpartition(".")  # not by pathlib: filters ask for millions
        if suffix.lower() in _COMPRESSIONS:
            stem, _, suffix = stem.rpartition(".")
        return suffix.lower() if stem else ""

    @property
    def modified(self) -> str:
        """As ISO 8601 in UTC, to the second."""
        seconds = min(max(self.modified_ns, 0), _LATEST) // 10**9
        return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}Z"

    def metadata(self) -> dict[str, Any]:
        """What filters see of it, unless the document has entries of the same names."""
        return {"path": self.path, "root": self.root, "type": self.type, "modified": self.modified, "size": self.size}

    def to_list(self) -> list[str | int]:
        return [self.root, self.path, self.modified_ns, self.size]

    @classmethod
    def from_list(cls, values: Any) -> Self:
        """Raises ValueError or TypeError for what `to_list` does not give."""
        root, path, modified_ns, size = values
        if not (isinstance(root, str) and isinstance(path, str)):
            raise TypeError(f"{values!r:.60} is no file")
        return cls(root, path, int(modified_ns), int(size))


@dataclass(frozen=True, slots=True)
class Document:
    """A text under a stable id. Offsets of answers count the characters of `text`, which is stored unchanged.

    Attributes:
        id: Stable: what is added again under the same id is the same document.
        text: What is searched.
        title: Read by the encoder before each passage, and shown with answers.
        metadata: With the entries of `file`, if it came from one, where it has none of its own.
        layout: Where its headings and pages are: headings are context of what follows and no answers.
        file: Where it came from; None if it did not come from a file.
    """

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    layout: Layout = NO_LAYOUT
    file: SourceFile | None = field(default=None, kw_only=True)

    def own_metadata(self) -> dict[str, Any]:
        """Without what `file` says: a file that is only touched has the same content."""
        known = {} if self.file is None else self.file.metadata()
        return {key: value for key, value in self.metadata.items() if key not in known or known[key] != value}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or record that was not read, and why: in a sentence that begins with its name, and in a word or two."""

    place: str
    reason: str
    kind: str = field(default="unreadable", compare=False)

    def __str__(self) -> str:
        return f"'{self.place}' {self.reason}"


def metadata_json(values: Any, *, sort_keys: bool = False) -> bytes:
    """Values as an index stores them; raises TypeError or ValueError for what could not be read back and shown."""
    if depth(values) > MOST_NESTED:
        raise ValueError(f"it is nested more than {MOST_NESTED} levels deep")
    written = json.dumps(values, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)
    if "\\ud" in written:  # an emoji, or half a surrogate pair, which is valid JSON but no text
        json.dumps(values, ensure_ascii=False).encode()
    return written.encode()
