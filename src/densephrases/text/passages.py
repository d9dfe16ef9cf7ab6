"""Passages, the unit that is encoded, and how a document's text is split into them."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from densephrases.text.documents import Document
from densephrases.text.sentences import TextSpan, ends_as_sentence, next_visible, paragraph_spans, sentence_spans

# Paragraphs of SQuAD, the training data, have 550 to 880 characters (quartiles); the original joins Wikipedia's up
# to 500. Most paragraphs of Wikipedia are shorter: alone they lack the context that resolves pronouns, and titles
# and special tokens would be a sixth of what is encoded.
SHORTEST = 500
# The encoder reads overlapping windows of about 1,700 characters, so long passages lose no context, while every cut
# does, and no phrase crosses one. The limit exists because passages are shown as results and their vectors are in
# memory at once, up to one per character in Chinese (9 MB at 768 dimensions). 0.05% of Wikipedia's paragraphs are cut.
LONGEST = 3000

# Between rows of a table: each is a passage of its own, however short. Rows beside each other are confused.
RECORD_BREAK = "\n\x1e\n"

_WIDEST_WRAP = 200  # characters; hard-wrapped lines are shorter
_LONGEST_TITLE = 100
_LINE = re.compile("[^\n\r\u0085\u2028]+")
_SPACE = re.compile(r"\s+")
_JOINER = "\u200d"
_NUMBER = re.compile(
    r"\A(?:(?:chapter|section|appendix|part) )?(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*(?:\.|(?<=\.\d)|(?<=\.\d\d)|:)\s+(?=\S)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that is encoded, the title of its document, and the headings above it that are not in its text."""

    text: str
    title: str = ""
    section: str = ""


def document_passages(document: Document) -> list[TextSpan]:
    """The passages of a document; a heading begins one unless the one before is short."""
    return split_passages(document.text, headings=document.layout.heading_starts)


def passage_of(document: Document, span: TextSpan) -> Passage:
    section = section_context(document.layout.path_before(span.start), document.title)
    return Passage(document.text[span.start : span.end], document.title, section)


def section_context(path: Iterable[str], title: str) -> str:
    """The innermost heading first, since encoders read only some tokens; without numbers, and without the title."""
    names = [without_number(name) for name in path]
    own = without_number(title)
    return ", ".join(name for name in reversed(names) if name and name != own)


def without_number(heading: str) -> str:
    """A heading without its number: '20.4. Resource Consumption', 'Chapter 3. Types', 'A.1. Codes'."""
    return _NUMBER.sub("", heading, count=1)


def split_passages(
    text: str, *, shortest: int = SHORTEST, longest: int = LONGEST, headings: Collection[int] = frozenset()
) -> list[TextSpan]:
    """Passages of at most `longest` characters, in order. Every character but space lies in exactly one.

    Passages are natural paragraphs, joined with the next ones up to `shortest` characters. A passage is shorter
    only if it would exceed `longest` together with either neighbour, or between record breaks. Paragraphs above
    `longest - shortest` are cut, at sentence ends if possible, so that a short neighbour always fits. Where one of the
    `headings` begins, half of `shortest` is enough.
    """
    if shortest < 1 or longest < 2 * shortest:
        raise ValueError(f"shortest={shortest} and longest={longest}: expected 1 <= shortest <= longest / 2.")
    return [
        passage for record in _records(text) for passage in _split_record(text, record, shortest, longest, headings)
    ]


def _records(text: str) -> Iterator[TextSpan]:
    start = 0
    while (end := text.find(RECORD_BREAK, start)) >= 0:
        yield TextSpan(start, end)
        start = end + len(RECORD_BREAK)
    yield TextSpan(start, len(text))


def _split_record(
    text: str, record: TextSpan, shortest: int, longest: int, headings: Collection[int]
) -> list[TextSpan]:
    inside = text[record.start : record.end]
    pieces = (piece for paragraph in _paragraphs(inside) for piece in _cut(inside, paragraph, longest - shortest))
    inner = {start - record.start for start in headings if record.start <= start < record.end}
    joined = _join(inside, pieces, shortest, longest, inner)
    return [TextSpan(record.start + each.start, record.start + each.end) for each in joined]


def _paragraphs(text: str) -> list[TextSpan]:
    blocks = paragraph_spans(text)
    return [paragraph for block in blocks for paragraph in _lines_or_block(text, block, alone=len(blocks) == 1)]


def _lines_or_block(text: str, block: TextSpan, *, alone: bool) -> list[TextSpan]:
    """The lines of a block without blank lines if they are paragraphs, else the block.

    Lines are paragraphs if most of the block is in lines too long to be hard-wrapped. In a text without any blank
    line, lines that end a sentence count as well; in wrapped text one in ten does by chance. If there are blank lines,
    they separate the paragraphs, and one sentence per line is a style of writing.
    """
    lines = [TextSpan.stripped(text, *line.span()) for line in _LINE.finditer(text, block.start, block.end)]
    whole = sum(
        line.length
        for line in lines
        if line.length > _WIDEST_WRAP or (alone and ends_as_sentence(text[line.start : line.end]))
    )
    if 2 * whole <= sum(line.length for line in lines):
        return [block]
    return [line for line in lines if line.length]


def _cut(text: str, paragraph: TextSpan, limit: int) -> Iterator[TextSpan]:
    """Pieces of at most `limit` characters and about equal length."""
    start, end = paragraph.start, paragraph.end
    ends = _sentence_ends(text, paragraph) if end - start > limit else []
    while end - start > limit:
        pieces = -(-(end - start) // limit)
        cut = _best_cut(text, ends, start, start + (end - start) // pieces, start + limit)
        yield TextSpan.stripped(text, start, cut)
        start = next_visible(text, cut)
    yield TextSpan(start, end)


def _sentence_ends(text: str, paragraph: TextSpan) -> list[int]:
    return [paragraph.start + s.end for s in sentence_spans(text[paragraph.start : paragraph.end])]


def _best_cut(text: str, sentence_ends: list[int], start: int, aim: int, high: int) -> int:
    """Near `aim`, at most `high`: the nearest sentence end, else the nearest space, else between characters."""
    low = max(start + 1, (start + aim) // 2)
    found = sentence_ends[bisect_left(sentence_ends, low) : bisect_right(sentence_ends, high)]
    found = found or [space.start() for space in _SPACE.finditer(text, low, high + 1)]
    return min(found, key=lambda cut: abs(cut - aim)) if found else _between_characters(text, low, aim)


def _between_characters(text: str, low: int, aim: int) -> int:
    """The last position up to `aim` that splits no letter from its marks and no joined emoji, or `aim`."""
    positions = range(aim, low - 1, -1)
    return next((p for p in positions if not _is_joined(text[p - 1], text[p])), aim)


def _is_joined(before: str, after: str) -> bool:
    return _JOINER in (before, after) or unicodedata.category(after).startswith("M")


def _join(
    text: str, pieces: Iterable[TextSpan], shortest: int, longest: int, headings: Collection[int]
) -> list[TextSpan]:
    """Append each piece to the passage before it while that is too short or ends with a heading."""
    passages: list[TextSpan] = []
    is_open = after_title = False
    least = shortest // 2 if headings else shortest
    for piece in pieces:
        heading = piece.start in headings
        if heading and not after_title and passages and passages[-1].length >= least:
            is_open = False
        if is_open and piece.end - passages[-1].start <= longest:
            passages[-1] = TextSpan(passages[-1].start, piece.end)
        else:
            _join_back(passages, least, longest)
            passages.append(piece)
        title = heading or _reads_as_title(text, piece)
        # Several in a row are probably a list, which may end anywhere.
        is_open = passages[-1].length < shortest or (title and not after_title)
        after_title = title
    _join_back(passages, least, longest)
    return passages


def _join_back(passages: list[TextSpan], shortest: int, longest: int) -> None:
    """Append a last passage that is too short to the one before it, if that has room."""
    if len(passages) > 1 and passages[-1].length < shortest:
        both = TextSpan(passages[-2].start, passages[-1].end)
        if both.length <= longest:
            passages[-2:] = [both]


def _reads_as_title(text: str, piece: TextSpan) -> bool:
    return piece.length <= _LONGEST_TITLE and not ends_as_sentence(text[piece.start : piece.end])
