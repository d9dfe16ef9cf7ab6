"""What a reader makes of a file with pages."""

from collections.abc import Iterable
from typing import NamedTuple

from densephrases.text.layout import NO_LAYOUT, Layout, Section

_SEPARATOR = "\n\n"


class Extracted(NamedTuple):
    title: str
    text: str
    layout: Layout = NO_LAYOUT


def joined(parts: Iterable[Extracted]) -> tuple[str, Layout]:
    """The texts separated by blank lines, and the headings in them."""
    texts: list[str] = []
    sections: list[Section] = []
    length = 0
    for part in parts:
        if part.text:
            sections += part.layout.shifted(length).sections
            texts.append(part.text)
            length += len(part.text) + len(_SEPARATOR)
    return _SEPARATOR.join(texts), Layout(tuple(sections))
