"""Sentences and paragraphs as character spans, found by rule in time linear in the text.

The rules cover English abbreviations and the sentence ends of other scripts. In doubt, two sentences stay together:
answers are shown in their sentence, and half a sentence misleads more than two.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextSpan:
    """The characters `text[start:end]`."""

    start: int
    end: int

    @classmethod
    def stripped(cls, text: str, start: int, end: int) -> "TextSpan":
        """The span without surrounding space; empty if there is nothing else."""
        piece = text[start:end]
        body = piece.lstrip()
        first = start + len(piece) - len(body)
        return cls(first, first + len(body.rstrip()))

    @property
    def length(self) -> int:
        return self.end - self.start


# Japanese and Chinese have no space after a sentence: these marks end one anywhere.
_WIDE = "\u3002\uff01\uff1f\uff61"
# Latin with ellipsis and double marks, Arabic and Urdu, Devanagari, Ethiopic.
_TERMINATORS = ".!?\u2026\u203c\u2047\u2048\u2049\u061f\u06d4\u0964\u0965\u1362" + _WIDE
# Quotes, brackets and Markdown's emphasis marks, which may stand between the mark and the space.
_CLOSING = "\"'\u2019\u201d\u00bb\u203a)]}*_`\u300d\u300f\uff09\u3011\u3009\u300b"
_OPENING_BRACKETS = "([{"
_CONTINUING = tuple(_TERMINATORS + ")]},;:")

_LINE_BREAK = re.compile("\r\n|[\n\r\u0085\u2028]")
_BREAK_AND_SPACE = re.compile("[\n\r\u0085\u2028\u2029]\\s*")
_VISIBLE = re.compile(r"\S")

_LIST_OR_TABLE = re.compile("(?:[-*+\u2022\u2023]|#{1,6}|[0-9]{1,2}[.)])[ \t]|\\|")
_MARKDOWN_HEADING = re.compile("#{1,6}[ \t]")

# The marks, closing characters, and the footnote numbers of encyclopedias: 'in 1901.[12] She'.
# Nothing can fail to match after a mark, so there is no backtracking.
_END = re.compile(f"([{re.escape(_TERMINATORS)}]+)([{re.escape(_CLOSING)}]*)(?:\\[[0-9]{{1,3}}\\])*")
_NEXT = re.compile(r"\s*((?:[^\w\s]|_){0,8}) ?(\w?)")

_LONGEST_ABBREVIATION = 12
_LAST_WORD = re.compile("[^\\s()\\[\\]{}\"'\u2018\u2019\u201c\u00ab/\u2010-\u2015-]*\\Z")
_SINGLE_LETTERS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_ROMAN = re.compile(r"(?:[IVXLC]{2,}|[VX])\b")
_CAPITALISED = re.compile(r"[^\W\d_]{1,12}(?![\w.-])")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_TITLES = _words(
    "Mr Mrs Ms Mx Dr Prof Rev Fr Gen Col Maj Lt Sgt Cpl Capt Cmdr Adm Gov Sen Rep Pres Hon Supt Mt Messrs Mme Mlle"
)
_NEVER_LAST = _words("e.g i.e eg ie vs viz cf ca approx resp esp incl")
_BEFORE_NUMBERS = _words(
    "no nos vol vols pp fig figs eq eqs sec secs ch chap art pt op ver tel ext para paras jan feb mar apr jun jul aug "
    "sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun"
)
_MAYBE_LAST = _words(
    "etc al jr sr inc ltd co corp bros st ste ft ave blvd rd dept univ assn est ed eds trans ph.d m.sc b.sc"
)
_STARTERS = _words(
    "the this that these those a an he she it they we you i his her its their our my in on at by for from to with "
    "after before since during when while where what who why how if as although though however but and or so yet "
    "because there then thus also another some many most both each such not until here later today now"
)


def sentence_spans(text: str) -> list[TextSpan]:
    """The sentences in order. Every character but the space between them lies in exactly one.

    A blank line ends a sentence, and so does a line break before a list item or table row or after a Markdown
    heading. Any other line break counts as a space.
    """
    return [sentence for block in block_spans(text) for sentence in sentences_of_block(text, block)]


def paragraph_spans(text: str) -> list[TextSpan]:
    """Paragraphs separated by blank lines or Unicode's paragraph separator, without surrounding space."""
    return _between(text, (gap for gap in _BREAK_AND_SPACE.finditer(text) if _is_blank_line(gap.group())))


def ends_as_sentence(text: str) -> bool:
    return text.rstrip(_CLOSING).endswith(tuple(_TERMINATORS))


def next_visible(text: str, position: int) -> int:
    """The first character at or after the position that is not a space, or the end of the text."""
    found = _VISIBLE.search(text, position)
    return found.start() if found else len(text)


def _between(text: str, gaps: Iterator[re.Match[str]]) -> list[TextSpan]:
    borders = [0, *(border for gap in gaps for border in gap.span()), len(text)]
    spans = (TextSpan.stripped(text, start, end) for start, end in zip(borders[::2], borders[1::2], strict=True))
    return [span for span in spans if span.length]


def _is_blank_line(space: str) -> bool:
    return "\u2029" in space or len(_LINE_BREAK.findall(space)) > 1


def block_spans(text: str) -> list[TextSpan]:
    """What no sentence goes beyond: paragraphs, headings, list items and table rows."""
    return _between(text, _block_gaps(text))


def _block_gaps(text: str) -> Iterator[re.Match[str]]:
    line = 0
    for gap in _BREAK_AND_SPACE.finditer(text):
        follows = _LIST_OR_TABLE.match(text, gap.end()) or _MARKDOWN_HEADING.match(text, line)
        if follows or _is_blank_line(gap.group()):
            yield gap
        line = gap.end()


def sentences_of_block(text: str, block: TextSpan) -> Iterator[TextSpan]:
    start = block.start
    for mark in _END.finditer(text, block.start, block.end):
        if mark.end() < block.end and _is_end(text, mark, start, block.end):
            yield TextSpan(start, mark.end())
            start = next_visible(text, mark.end())
    yield TextSpan(start, block.end)


def _is_end(text: str, mark: re.Match[str], sentence: int, stop: int) -> bool:
    if mark.start() == sentence:  # punctuation alone is no sentence
        return False
    if text[mark.end(1) - 1] in _WIDE:
        return True
    if not text[mark.end()].isspace():  # 3.14, example.org, U.S
        return False
    if mark.group(2) and text[mark.start() - 1] in _OPENING_BRACKETS:  # 'he [...] Britain', 'born 1510 (?) Rome'
        return False
    following = _NEXT.match(text, mark.end(), stop)
    assert following is not None, "the pattern matches anything"
    symbols, first = following.groups()
    if first.islower() or symbols.startswith(_CONTINUING):
        return False
    return mark.group(1) != "." or not _is_abbreviated(text, mark.start(), sentence, following.start(2))


def _is_abbreviated(text: str, dot: int, sentence: int, following: int) -> bool:
    """Whether the dot belongs to the word before it and the sentence goes on."""
    word = _last_word(text, dot, sentence)
    plain = word.lower()
    if plain in _NEVER_LAST or (word[:1].isupper() and word.capitalize() in _TITLES):
        return True
    if plain in _BEFORE_NUMBERS:
        return text[following : following + 1].isdigit() or _ROMAN.match(text, following) is not None
    if word.isdecimal():
        return dot - len(word) == sentence and len(word) < 4  # '2. Method': the number of a heading or item
    return (plain in _MAYBE_LAST or _SINGLE_LETTERS.fullmatch(word) is not None) and not _is_starter(text, following)


def _last_word(text: str, end: int, sentence: int) -> str:
    found = _LAST_WORD.search(text[max(sentence, end - _LONGEST_ABBREVIATION) : end])
    return found.group() if found else ""


def _is_starter(text: str, position: int) -> bool:
    """Whether a capitalised word that rarely belongs to a name stands here: 'in the U.S. The', not 'the U.S. Army'."""
    word = _CAPITALISED.match(text, position)
    return word is not None and word.group().lower() in _STARTERS
