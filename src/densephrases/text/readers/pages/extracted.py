"""What a reader makes of a file with pages."""

from typing import NamedTuple

from densephrases.text.layout import NO_LAYOUT, Layout


class Extracted(NamedTuple):
    title: str
    text: str
    layout: Layout = NO_LAYOUT
