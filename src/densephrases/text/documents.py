"""What is indexed: a text with an id, a title and metadata."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from densephrases.json_input import MOST_NESTED, depth
from densephrases.text.layout import NO_LAYOUT, Layout


@dataclass(frozen=True, slots=True)
class Document:
    """A text under a stable id. Offsets of answers count the characters of `text`, which is stored unchanged.

    `layout` says where its headings and pages are: headings are context of what follows and no answers.
    """

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    layout: Layout = NO_LAYOUT


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or record that could not be read, and why."""

    place: str
    reason: str

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
