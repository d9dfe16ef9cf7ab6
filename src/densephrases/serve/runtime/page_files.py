"""Pictures of pages from the PDF files of a folder that the operator has opened."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from densephrases.errors import DataError
from densephrases.serve.problems import Problem
from densephrases.text.documents import Document
from densephrases.text.readers.files import split_name
from densephrases.text.readers.pages.pdf_view import Box, phrase_boxes, render_page

Made = TypeVar("Made")

_RETRY = {"Retry-After": "1"}


class PageFiles:
    """Finds the file of a document below a folder by the document's id, and shows its pages one at a time."""

    def __init__(self, folder: Path | None, seconds: float) -> None:
        self._folder = None if folder is None else folder.resolve()
        self._seconds = seconds
        self._turn = asyncio.Lock()  # PDFium works for one at a time: others wait here, not in threads

    def path(self, document: Document) -> Path | None:
        """Of the PDF file; None if pages are not shown, or if it is not there (any more)."""
        if self._folder is None or not document.layout.pages:
            return None
        return next(filter(self._may_be_shown, self._places(self._folder, document)), None)

    def _places(self, folder: Path, document: Document) -> Iterator[Path]:
        for name in (document.id, document.metadata.get("path")):
            if isinstance(name, str) and "\0" not in name:
                yield folder / name

    def _may_be_shown(self, path: Path) -> bool:
        """A regular PDF file below the folder, wherever links lead."""
        assert self._folder is not None
        try:
            whole = path.resolve()
            return whole.is_relative_to(self._folder) and whole.is_file() and split_name(whole)[1] == ".pdf"
        except (OSError, ValueError, RuntimeError):
            return False

    async def image(self, document: Document, page: int, width: int) -> bytes:
        """PNG. Raises Problem."""
        path = self._known(document)
        return await self._made(lambda: render_page(path, page, width))

    async def boxes(self, document: Document, start: int, end: int) -> list[Box]:
        """Where characters of the text stand on their page. Raises Problem."""
        path = self._known(document)
        page = document.layout.page(start) or 1
        first, last = document.layout.page_span(page, len(document.text))
        text = document.text[first:last]
        return await self._made(lambda: phrase_boxes(path, page, text, start - first, min(end, last) - first))

    def _known(self, document: Document) -> Path:
        path = self.path(document)
        if path is None:
            raise Problem(404, "no_page", "The service shows no pages of this document.")
        return path

    async def _made(self, make: Callable[[], Made]) -> Made:
        try:
            async with asyncio.timeout(self._seconds):
                await self._turn.acquire()
        except TimeoutError:
            detail = f"Other pages took more than {self._seconds:.3g} seconds; send the request again later."
            raise Problem(503, "pages_busy", detail, _RETRY) from None
        try:
            return await asyncio.to_thread(make)
        except (DataError, OSError) as error:
            raise Problem(404, "no_page", "The file is no longer what was indexed, or has no such page.") from error
        finally:
            self._turn.release()
