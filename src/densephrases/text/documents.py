"""What is indexed: a text with an id, a title and metadata."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Document:
    """A text under a stable id. Offsets of answers count the characters of `text`, which is stored unchanged."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or record that could not be read, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"'{self.place}' {self.reason}"
