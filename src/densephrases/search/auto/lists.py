"""Answers to questions for a list: phrases of one list or one sentence are items of one result."""

import re
from collections.abc import Iterable
from dataclasses import replace

from densephrases.search.answers import Alternative, Answer

_ITEM = re.compile(r"[^\S\n]*(?:[-*\u2022\u2023\u25e6\u00b7]|\(?(?:\d{1,3}|[a-z])[.)])[^\S\n]+\S")


def grouped(answers: Iterable[Answer]) -> list[Answer]:
    """Results of phrases, best first, as results of the lists or sentences that they are in, with their items."""
    groups: dict[tuple[str, int, int], list[Answer]] = {}
    for answer in answers:
        start, end = list_around(answer)
        groups.setdefault((answer.document.id, start, end), []).append(answer)
    return [_one_result(start, end, several) for (_, start, end), several in groups.items()]


def _one_result(start: int, end: int, several: list[Answer]) -> Answer:
    best = several[0]
    items = sorted((Alternative(a.text, a.start, a.end, a.score) for a in several), key=lambda item: item.start)
    text = best.passage[start - best.passage_start : end - best.passage_start]
    return replace(best, text=text, start=start, end=end, unit="sentence", items=tuple(items), alternatives=())


def list_around(answer: Answer) -> tuple[int, int]:
    """The offsets in the document of the list whose item has the answer, or of the sentence if there is none."""
    text, begin = answer.passage, answer.passage_start
    lines, place = _lines(text), 0
    while place + 1 < len(lines) and lines[place + 1][0] <= answer.phrase.start - begin:
        place += 1
    if not _is_item(text, lines[place]):
        return answer.sentence_start, answer.sentence_start + len(answer.sentence)
    first = last = place
    while first > 0 and _is_item(text, lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and _is_item(text, lines[last + 1]):
        last += 1
    return begin + lines[first][0], begin + max(lines[last][1], answer.phrase.end - begin)


def _lines(text: str) -> list[tuple[int, int]]:
    """The offsets of lines that are not blank."""
    return [match.span() for match in re.finditer(r"[^\n]*\S[^\n]*", text)] or [(0, len(text))]


def _is_item(text: str, line: tuple[int, int]) -> bool:
    return _ITEM.match(text, *line) is not None
