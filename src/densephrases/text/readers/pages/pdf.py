"""Text of PDF files with the place of each page in it; needs the extra `pdf`."""

import ctypes
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from densephrases.errors import DataError, MissingExtraError
from densephrases.text.layout import Layout
from densephrases.text.readers.limits import MAX_DOCUMENT, too_large
from densephrases.text.readers.pages.extracted import Extracted
from densephrases.text.readers.pages.flow import Flow
from densephrases.text.readers.pages.pdf_file import open_pdf, page_image
from densephrases.text.readers.pages.pdf_lines import (
    Line,
    body_size,
    cleaned,
    heading_levels,
    paragraphs,
    with_words_joined,
    without_repetitions,
    words_of,
)
from densephrases.text.readers.pages.pdf_scan import recognized_lines
from densephrases.text.sentences import ends_as_sentence

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

SECONDS = 60.0  # after which no further page is begun, but for the recognition of scans
_MOST_SCANS = 1000  # pages of a file
_GLANCE_PIXELS = 400  # of the longer side of the picture that tells an empty page from a scan
_LIGATURES = str.maketrans({"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\0": ""})


def pdf_document(path: Path, limit: int = MAX_DOCUMENT) -> Extracted:
    """Title, text, headings and pages. The file and its text may each have `limit` bytes.

    A blank line separates paragraphs. Running heads, page numbers and tables of contents are left out, and words that a
    line end breaks are joined. Pages without text are recognised if the extra `ocr` is there.
    """
    with open_pdf(path, limit) as document:
        pages = list(_Pages(document, path, limit))
        title = str(document.get_metadata_dict().get("Title") or "")
    flow, starts = _written(without_repetitions(pages))
    text = _whole_characters(flow.text())
    return Extracted(_whole_characters(" ".join(title.split())), text, Layout(flow.layout().sections, tuple(starts)))


class _Pages:
    """The lines of each page."""

    def __init__(self, document: "PdfDocument", path: Path, limit: int) -> None:
        self._document, self._path, self._limit = document, path, limit
        self._end = monotonic() + SECONDS
        self._scans = 0

    def __iter__(self) -> Iterator[list[Line]]:
        size = visible = 0
        for number in range(len(self._document)):
            lines = self._lines(self._document[number])
            size += sum(len(line.text) for line in lines)
            visible += len(lines)
            if size > self._limit:
                raise DataError(f"'{self._path}' {too_large(self._limit)}.")
            if monotonic() > self._end:
                raise DataError(f"'{self._path}' takes more than {SECONDS:.0f} seconds to read.")
            yield lines
        if self._scans and not visible:
            raise _unread_scans(self._path)

    def _lines(self, page: "PdfPage") -> list[Line]:
        textpage = page.get_textpage()
        lines = list(_text_lines(textpage))
        textpage.close()
        if not lines and _shows_something(page) and self._scans < _MOST_SCANS:
            self._scans += 1
            before = monotonic()
            lines = _scanned(page)
            self._end += monotonic() - before
        page.close()
        return lines


def _text_lines(textpage: "PdfTextPage") -> Iterator[Line]:
    place = 0
    for text in textpage.get_text_range().split("\r\n"):
        first = place + len(text) - len(text.lstrip())
        place += len(text) + 2
        line = cleaned(Line(text.translate(_LIGATURES)))
        if line.text:
            yield _placed(textpage, first, line.text)


def _placed(textpage: "PdfTextPage", place: int, text: str) -> Line:
    from pypdfium2 import raw

    index = raw.FPDFText_GetCharIndexFromTextIndex(textpage, place)
    left, baseline = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(textpage, index, left, baseline)
    return Line(text, left.value, baseline.value, raw.FPDFText_GetFontSize(textpage, index))


def _shows_something(page: "PdfPage") -> bool:
    """Whether a small picture of the page has more than one colour."""
    from pypdfium2 import raw

    if raw.FPDFPage_CountObjects(page) == 0:
        return False
    return page_image(page, _GLANCE_PIXELS).getcolors(maxcolors=1) is None


def _scanned(page: "PdfPage") -> list[Line]:
    (_, height), found = recognized_lines(page)
    boxes = [(line.text, *line.box) for line in found]
    lines = [Line(text, left, height - bottom, bottom - top) for text, left, top, _, bottom in boxes]
    return [line for line in map(cleaned, lines) if line.text]


def _unread_scans(path: Path) -> MissingExtraError:
    return MissingExtraError(
        f"'{path}' has pictures of pages but no text, which needs the recognition of text; install it with: "
        "pip install 'densephrases[ocr]'"
    )


def _written(pages: Sequence[Sequence[Line]]) -> tuple[Flow, list[int]]:
    """All pages one after the other, and where each begins."""
    flow, starts, words = Flow(), list[int](), words_of(pages)
    level_of = heading_levels(pages, body_size(pages))
    for number, lines in enumerate(pages):
        starts.append(-1)
        found = paragraphs(lines)
        for place, paragraph in enumerate(found):
            _separate(flow, paragraph[0], begins_page=place == 0)
            level = level_of(paragraph) if number and place + 1 < len(found) else 0
            mark = flow.begin(level) if level else None
            for gap, text in with_words_joined(paragraph, words):
                flow.widen(gap)
                flow.write(text)
                starts[-1] = flow.characters - len(text) if starts[-1] < 0 else starts[-1]
            if mark is not None:
                flow.end(mark)
    return flow, _filled(starts, flow.characters)


def _separate(flow: Flow, line: Line, *, begins_page: bool) -> None:
    """A sentence may go on at the top of the next page."""
    goes_on = begins_page and line.text[:1].islower() and flow.pieces and not ends_as_sentence(flow.pieces[-1])
    if goes_on:
        flow.force("\n")
    else:
        flow.break_block()


def _filled(starts: Sequence[int], end: int) -> list[int]:
    """Pages without text begin where the next one does."""
    filled: list[int] = []
    for start in reversed(starts):
        end = end if start < 0 else start
        filled.append(end)
    return filled[::-1]


def _whole_characters(text: str) -> str:
    """Join halves of surrogate pairs, which fonts may map to, and replace lone ones.

    Nothing changes its place: a pair is one character for PDFium's text as well.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
