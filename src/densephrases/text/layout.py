"""Where the headings and pages of a document are in its text."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

TERM_LEVEL = 7  # and above: terms of definition lists
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Section:
    """The characters `start:end` of a text name what follows, up to the next section of the same or a lower level.

    Levels 1 to 6 are headings, which are no answers. From 7 on they are terms of definition lists, which may be. A
    section without a name ends others.
    """

    start: int
    end: int
    level: int
    name: str

    @classmethod
    def from_text(cls, start: int, end: int, level: int, text: str) -> "Section":
        return cls(start, end, level, " ".join(text.split())[:_LONGEST_NAME])

    @property
    def is_heading(self) -> bool:
        return bool(self.name) and self.level < TERM_LEVEL


@dataclass(frozen=True)
class Layout:
    """Sections in the order of the text, and the offset at which each page begins."""

    sections: tuple[Section, ...] = ()
    pages: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sections or self.pages)

    def page(self, position: int) -> int | None:
        """The page of a character, from 1; None if the document has no pages."""
        return max(bisect_right(self.pages, position), 1) if self.pages else None

    def page_span(self, page: int, length: int) -> tuple[int, int]:
        """The characters of a page, from 1, of a text of that length."""
        edges = [*self.pages, length]
        return edges[page - 1], edges[page]

    def path(self, position: int) -> list[str]:
        """The names of the sections around a character, outermost first."""
        return [section.name for section in self._around(position)]

    def path_before(self, position: int) -> list[str]:
        """As `path`, without sections that begin there or later: what a passage from there on does not say itself."""
        return [section.name for section in self._around(position) if section.start < position]

    def headings(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The spans of headings that touch the characters `start:end`."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        for section in self.sections[first:]:
            if section.start >= end:
                return
            if section.is_heading and section.end > start:
                yield section.start, section.end

    @cached_property
    def heading_starts(self) -> frozenset[int]:
        return frozenset(section.start for section in self.sections if section.is_heading)

    def _around(self, position: int) -> list[Section]:
        if not self.sections:
            return []
        found = []
        number = bisect_right(self._starts, position) - 1
        while number >= 0:
            found.append(self.sections[number])
            number = self._parents[number]
        return [section for section in reversed(found) if section.name]

    @cached_property
    def _starts(self) -> list[int]:
        return [section.start for section in self.sections]

    @cached_property
    def _parents(self) -> list[int]:
        """The section around each one, -1 for none."""
        parents: list[int] = []
        opened: list[int] = []
        for number, section in enumerate(self.sections):
            while opened and self.sections[opened[-1]].level >= section.level:
                opened.pop()
            parents.append(opened[-1] if opened else -1)
            opened.append(number)
        return parents

    def shifted(self, by: int) -> "Layout":
        """Of a text that has this one after its first `by` characters."""
        sections = (replace(each, start=each.start + by, end=each.end + by) for each in self.sections)
        return Layout(tuple(sections), tuple(page + by for page in self.pages))

    def to_json(self) -> dict[str, Any]:
        sections = [[each.start, each.end, each.level, each.name] for each in self.sections]
        return {name: value for name, value in (("sections", sections), ("pages", list(self.pages))) if value}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Layout":
        """Raises TypeError or ValueError if they are none of a layout."""
        sections = tuple(Section(*each) for each in values.get("sections", ()))
        pages = tuple(values.get("pages", ()))
        _check_ascending([section.start for section in sections], "sections")
        _check_ascending(pages, "pages")
        return cls(sections, pages)


def _check_ascending(offsets: Sequence[int], what: str) -> None:
    if any(not isinstance(each, int) for each in offsets) or any(after < before for before, after in pairwise(offsets)):
        raise ValueError(f"its {what} are not in the order of the text")


NO_LAYOUT = Layout()
