"""Lines of PDF pages to paragraphs: running heads and page numbers dropped, hyphens at line ends joined."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from statistics import median

from densephrases.text.sentences import ends_as_sentence

HYPHEN = "\ufffe"  # what PDFium puts for a hyphen at the end of a line, without a line break
EDGE = 2  # lines at the top and at the bottom of a page that may repeat from page to page

_NUMBER = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"(?:page|p\.|seite)?[\s\u2013\u2014-]*(\d{1,4})(?:\s*(?:/|of|von)\s*\d{1,4})?[\s\u2013\u2014-]*", re.IGNORECASE
)
_ROMAN = re.compile(r"[ivx]{1,4}|[ivxl]{2,7}")
_CONTENTS = re.compile(r"(?:(?:\.\s?){4,}|(?:\s\.){2,})\s*(?:\d{1,4}|[ivxlc]{1,7})\Z")
_BROKEN = re.compile(rf"(\S*[^\W\d_]){HYPHEN}([^\W\d_]\S*)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
# Before these a hyphen belongs to the word more often than not.
_PREFIXES = (
    "all anti cross double ex full half high large long low mid multi non one part post pre real self semi short "
    "single small so third three two user well wide"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, where its first character stands on the page, counted from the bottom, and its font size."""

    text: str
    left: float = 0.0
    baseline: float = 0.0
    size: float = 0.0


def without_repetitions(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages without running heads, page numbers and lines of a table of contents."""
    keys = [_edge_keys(lines) for lines in pages]
    counts = Counter(key for page in keys for key in set(page.values()))
    kept = []
    for number, lines in enumerate(pages):
        others = [keys[other] for other in range(max(number - 2, 0), min(number + 3, len(pages))) if other != number]
        near = {key for other in others for key in other.values()}
        repeated = {place for place, key in keys[number].items() if counts[key] > 2 and key in near and key[0] != "#"}
        dropped = _from_edges(repeated | _numbered(pages, number), len(lines))
        kept.append([line for place, line in enumerate(lines) if place not in dropped])
    return [[line for line in lines if not _CONTENTS.search(line.text)] for lines in kept]


def _from_edges(dropped: set[int], lines: int) -> set[int]:
    """The places at the top and at the bottom, without those after a line that stays."""
    top = takewhile(dropped.__contains__, range(EDGE))
    bottom = takewhile(dropped.__contains__, range(lines - 1, lines - 1 - EDGE, -1))
    return {*top, *bottom}


def _numbered(pages: Sequence[Sequence[Line]], number: int) -> set[int]:
    """The first and last lines of a page that are its number, by the number of the page or of its neighbours."""
    lines = pages[number]
    shifts = {
        found - other
        for other in (number - 1, number + 1)
        if 0 <= other < len(pages)
        for place in _edges(pages[other])
        if (found := _page_number(pages[other][place].text)) is not None
    }
    places = set()
    for place in _edges(lines):
        found = _page_number(lines[place].text)
        roman = len(pages) > 1 and _ROMAN.fullmatch(lines[place].text.strip()) is not None
        if roman or (found is not None and (found == number + 1 or found - number in shifts)):
            places.add(place)
    return places


def _edges(lines: Sequence[Line]) -> set[int]:
    return {*range(min(EDGE, len(lines))), *range(max(len(lines) - EDGE, 0), len(lines))}


def _edge_keys(lines: Sequence[Line]) -> dict[int, tuple[str, int]]:
    """The first and last lines by their places, without their numbers, and how high they stand."""
    return {
        place: (_NUMBER.sub("#", lines[place].text.casefold()).strip(), round(lines[place].baseline / 8))
        for place in _edges(lines)
    }


def _page_number(text: str) -> int | None:
    found = _PAGE_NUMBER.fullmatch(text.strip()[:40])
    return int(found[1]) if found else None


def words_of(pages: Iterable[Iterable[Line]]) -> Counter[str]:
    """How often each word is written, also those with hyphens, not counting those at line ends."""
    return Counter(word.casefold() for lines in pages for line in lines for word in _WORD.findall(line.text))


def unbroken(text: str, words: Counter[str]) -> str:
    """The line with broken words joined, with or without their hyphen."""
    return _BROKEN.sub(lambda found: joined(found[1], found[2], words), text).replace(HYPHEN, "-")


def joined(first: str, second: str, words: Counter[str]) -> str:
    """Two parts of a word that was broken at a hyphen; what the document writes elsewhere decides."""
    left, right = first.rsplit(maxsplit=1)[-1], _LETTERS.match(second)
    parts = _LETTERS.findall(left)
    if right is None or not parts or not second[0].islower() or "-" in left:
        return f"{first}-{second}"
    before, after = parts[-1].casefold(), right[0].casefold()
    with_hyphen, without = words[f"{before}-{after}"], words[before + after]
    keeps = with_hyphen > without if with_hyphen or without else before in _PREFIXES.split()
    return f"{first}-{second}" if keeps else first + second


def paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """Lines that belong together: cut at wide gaps, at changes of the font size and at indented lines."""
    leading = _leading(lines)
    found: list[list[Line]] = []
    for line in lines:
        if found and not _begins(found[-1][-1], line, leading):
            found[-1].append(line)
        else:
            found.append([line])
    return found


def _leading(lines: Sequence[Line]) -> float:
    """The usual distance from line to line."""
    steps = [
        step
        for before, after in pairwise(lines)
        if 0.8 * after.size < (step := before.baseline - after.baseline) < 2 * after.size
    ]
    return median(steps) if steps else 1.2 * max((line.size for line in lines), default=0.0)


def _begins(before: Line, line: Line, leading: float) -> bool:
    """Whether a line begins a paragraph."""
    step = before.baseline - line.baseline - leading * before.text.count(HYPHEN)
    if abs(line.size - before.size) > 0.12 * max(line.size, before.size):
        return abs(step) > 0.4 * leading  # else small print within a line
    if step < 0 or step > 4 * leading:  # the next column
        return ends_as_sentence(before.text) or not line.text[:1].islower()
    if step > 1.3 * leading:
        return True
    return line.left > before.left + 0.5 * line.size and ends_as_sentence(before.text)


def body_size(pages: Iterable[Iterable[Line]]) -> float:
    """The font size of most characters."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[_rounded(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def heading_levels(pages: Sequence[Sequence[Line]], body: float) -> Callable[[Sequence[Line]], int]:
    """Of a paragraph the level of the heading that it is by its font size, 0 if it is none."""
    sizes = {_rounded(line.size) for lines in pages for line in lines}
    larger = sorted((size for size in sizes if size >= 1.12 * body > 0), reverse=True)
    levels = {size: min(place, 6) for place, size in enumerate(larger, start=1)}

    def level(paragraph: Sequence[Line]) -> int:
        characters = sum(len(line.text) for line in paragraph)
        lettered = any(map(str.isalpha, paragraph[0].text))
        return (
            levels.get(_rounded(paragraph[0].size), 0) if len(paragraph) <= 3 and characters <= 150 and lettered else 0
        )

    return level


def _rounded(size: float) -> float:
    return round(2 * size) / 2


def with_words_joined(paragraph: Sequence[Line], words: Counter[str]) -> Iterator[tuple[str, str]]:
    """The text of each line and what separates it from the one before: nothing where a word goes on."""
    rest, gap = "", ""
    for line in paragraph:
        text = unbroken(line.text, words)
        if rest:
            text, gap = _gone_on(rest, text, words)
        else:
            gap = "\n"
        rest = ""
        head, _, last = text.rpartition(" ")
        if len(last) > 2 and last.endswith("-") and last[-2].isalpha() and line is not paragraph[-1]:
            rest, text = last[:-1], head
        if text:
            yield gap, text
    if rest:
        yield " ", f"{rest}-"


def _gone_on(rest: str, text: str, words: Counter[str]) -> tuple[str, str]:
    word, space, others = text.partition(" ")
    return joined(rest, word, words) + space + others if word else f"{rest}-", " "


def cleaned(line: Line) -> Line:
    return replace(line, text=" ".join(line.text.split()))
