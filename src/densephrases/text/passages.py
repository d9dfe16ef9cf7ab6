"""The unit that is encoded: a piece of text under a title."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    text: str
    title: str = ""
