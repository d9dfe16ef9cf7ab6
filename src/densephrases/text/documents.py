"""What is searched: a text with an id, a title and whatever else its owner wants to know of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    """A text under a stable id. Every offset of an answer counts the characters of `text`, which never changes."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or a record that gave no document, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"'{self.place}' {self.reason}"
