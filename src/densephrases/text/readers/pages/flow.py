"""Text put together piece by piece: gaps between pieces, and which of them are headings and terms."""

from dataclasses import dataclass, field
from itertools import accumulate

from densephrases.text.layout import Layout, Section
from densephrases.text.sentences import ends_as_sentence

_STRENGTH = {"": 0, " ": 1, "\n": 2, "\n\n": 3}


@dataclass(slots=True)
class Mark:
    """Pieces that name what follows."""

    level: int
    first: int
    last: int = -1
    characters: int = 0  # written before it
    kept: bool = True


@dataclass(slots=True)
class Flow:
    """Pieces of text with gaps between them, as wide as any that was asked for."""

    pieces: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    characters: int = 0
    _gap: str = ""
    _forced: bool = False

    def write(self, text: str) -> None:
        if self.pieces:
            self._add(self._gap)
        self._add(text)
        self._gap, self._forced = "", False

    def pop(self) -> None:
        """Take back the last piece."""
        for _ in range(min(2, len(self.pieces))):
            self.characters -= len(self.pieces.pop())
        self.break_block()

    def strip_end(self) -> None:
        """Without line breaks at the end of the last piece."""
        if self.pieces and (stripped := self.pieces[-1].rstrip("\r\n")):
            self.characters -= len(self.pieces[-1]) - len(stripped)
            self.pieces[-1] = stripped

    def join_first_block(self, longest: int) -> None:
        """Put a colon after the first block if it is short and no sentence: it names what follows."""
        place = next((number for number, piece in enumerate(self.pieces) if piece == "\n\n"), 0)
        first = "".join(self.pieces[:place]).strip()
        if 0 < len(first) <= longest and not ends_as_sentence(first) and "\n" not in first:
            self.pieces[place] = ": "

    def _add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.characters += len(piece)

    def widen(self, gap: str) -> None:
        if not self._forced:
            self._gap = max(self._gap, gap, key=_STRENGTH.__getitem__)

    def force(self, gap: str) -> None:
        """Whatever else is asked for before the next piece, this is the gap."""
        self._gap, self._forced = gap, True

    def break_block(self) -> None:
        """Begin a block, even after `force`."""
        self._gap, self._forced = "\n\n", False

    def ends_with(self, marks: tuple[str, ...]) -> bool:
        return bool(self.pieces) and self.pieces[-1].endswith(marks)

    def begin(self, level: int) -> Mark:
        """What is written until `end` is a heading or a term."""
        mark = Mark(level, len(self.pieces) + bool(self.pieces), characters=self.characters)
        self.marks.append(mark)
        return mark

    def end(self, mark: Mark) -> None:
        mark.last = len(self.pieces)
        mark.kept = mark.last > mark.first

    def written(self, mark: Mark) -> str:
        return "".join(self.pieces[mark.first : mark.last]).strip()

    def close(self, level: int) -> None:
        """What is written from here on belongs to no section of this level."""
        place = len(self.pieces) + bool(self.pieces)
        self.marks.append(Mark(level, place, place))

    def append(self, other: "Flow") -> None:
        if not other.pieces:
            return
        shift = len(self.pieces) + bool(self.pieces)
        self.write("".join(other.pieces[:1]))
        for piece in other.pieces[1:]:
            self._add(piece)
        for mark in other.marks:
            mark.first, mark.last = mark.first + shift, mark.last + shift
            self.marks.append(mark)

    def text(self) -> str:
        return "".join(self.pieces)

    def layout(self) -> Layout:
        starts = [0, *accumulate(map(len, self.pieces))]
        last = len(self.pieces)
        sections = []
        for mark in self.marks:
            if mark.kept and mark.first < last:
                start = starts[mark.first]
                end = max(starts[min(mark.last, last)], start)
                name = "".join(self.pieces[mark.first : mark.last])
                sections.append(Section.from_text(start, end, mark.level, name))
        return Layout(tuple(sorted(sections, key=lambda section: section.start)))
