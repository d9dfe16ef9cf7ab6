"""Results that overlap are one place of the text: the best stands for it, and the others are its alternatives."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from densephrases.search.answers import Alternative, Answer
from densephrases.search.request import Unit


def may_overlap(unit: Unit) -> bool:
    """Phrases share words, and a phrase of two sentences shares them with others; passages and documents are apart."""
    return unit in ("phrase", "sentence")


def merged(answers: Iterable[Answer]) -> list[Answer]:
    """Answers, best first, without those that overlap a better one, which has them as alternatives."""
    chosen: list[Answer] = []
    others: list[list[Alternative]] = []
    for answer in answers:
        better = next((place for place, each in enumerate(chosen) if overlap(each, answer)), None)
        if better is None:
            chosen.append(answer)
            others.append([])
        else:
            others[better].append(Alternative(answer.text, answer.start, answer.end, answer.score))
    pairs = zip(chosen, others, strict=True)
    return [replace(answer, alternatives=tuple(several)) if several else answer for answer, several in pairs]


def overlap(one: Answer, other: Answer) -> bool:
    return one.document.id == other.document.id and one.start < other.end and other.start < one.end


class Places:
    """The places of some spans: spans that overlap, also by way of others, are of one place.

    Whichever of the spans come first, at least `len(places)` of them are apart from each other.
    """

    def __init__(self) -> None:
        self._starts: defaultdict[int, list[int]] = defaultdict(list)  # by passage, ascending
        self._ends: defaultdict[int, list[int]] = defaultdict(list)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, passage: int, start: int, end: int) -> None:
        first, last = self._touched(passage, start, end)
        starts, ends = self._starts[passage], self._ends[passage]
        if first < last:
            start, end = min(start, starts[first]), max(end, ends[last - 1])
        starts[first:last], ends[first:last] = [start], [end]
        self._count += 1 - (last - first)

    def add_all(self, passages: Sequence[int], spans: Sequence[Sequence[int]]) -> "Places":
        for passage, (start, end) in zip(passages, spans, strict=True):
            self.add(passage, start, end)
        return self

    def _touched(self, passage: int, start: int, end: int) -> tuple[int, int]:
        """The places from the first to before the last that the span overlaps."""
        return bisect_right(self._ends[passage], start), bisect_left(self._starts[passage], end)
