"""Results that overlap are one place of the text: the best stands for it, and the others are its alternatives."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from densephrases.search.answers import Alternative, Answer
from densephrases.search.request import Unit


def may_overlap(unit: Unit) -> bool:
    """Phrases share words, and a phrase of two sentences shares them with others; passages and documents are apart."""
    return unit in ("phrase", "sentence")


def merged(answers: Sequence[Answer]) -> list[Answer]:
    """Answers, best first, without those that overlap a better one, which has them as alternatives."""
    kept = best_of_places([(answer.document.id, answer.start, answer.end) for answer in answers])
    if len(kept) == len(answers):
        return list(answers)
    chosen = []
    for best, others in kept.items():
        alternatives = [Alternative(a.text, a.start, a.end, a.score) for a in map(answers.__getitem__, others)]
        chosen.append(replace(answers[best], alternatives=tuple(alternatives)) if others else answers[best])
    return chosen


def best_of_places(spans: Sequence[tuple[str, int, int]]) -> dict[int, list[int]]:
    """Of spans in documents, best first, the rows that overlap no better one of these, with those that overlap them."""
    kept: dict[int, list[int]] = {}
    by_document: defaultdict[str, list[tuple[int, int, list[int]]]] = defaultdict(list)
    for row, (document, start, end) in enumerate(spans):
        better = by_document[document]
        others = next((others for first, last, others in better if first < end and start < last), None)
        if others is None:
            kept[row] = []
            better.append((start, end, kept[row]))
        else:
            others.append(row)
    return kept


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
