"""The children of an XML file's root, one at a time, each bounded in size, depth and number of elements."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from densephrases.errors import DataError
from densephrases.text.readers.limits import MOST_VALUES, too_large

MOST_DEEP = 100
_BLOCK = 1 << 16
_LONGEST_TAG = 1 << 20  # bytes


class XmlChildren:
    """Reads a file block by block, so that memory holds one child of its root. Tags carry no namespace.

    A document type is refused: it may define entities that expand without end.
    """

    def __init__(self, file: BinaryIO, path: Path, limit: int) -> None:
        self._file, self._path, self._limit = file, path, limit
        self.root = ""
        self._depth = self._elements = 0
        self._begun = 0  # the byte at which the last child ended
        self._builder = TreeBuilder()
        self._complete: list[Element] = []
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._parser.StartDoctypeDeclHandler = self._refuse_type

    def __iter__(self) -> Iterator[Element]:
        read = 0
        while True:
            block = self._file.read(_BLOCK)
            read += len(block)
            try:
                self._parser.Parse(block, not block)
            except expat.ExpatError as error:
                yield from self._taken()
                raise DataError(f"'{self._path}' is not XML: {error}.") from error
            yield from self._taken()
            if not block:
                return
            if read - self._begun > self._limit:
                raise DataError(f"'{self._path}', after byte {self._begun:,}, {too_large(self._limit)}.")
            if read - self._parser.CurrentByteIndex > _LONGEST_TAG:
                raise DataError(f"'{self._path}' has a tag of more than {_LONGEST_TAG:,} bytes.")

    def _taken(self) -> list[Element]:
        taken, self._complete = self._complete, []
        return taken

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._depth += 1
        if self._depth == 1:
            self.root = name
            return
        self._elements += 1
        if self._depth > MOST_DEEP or self._elements > MOST_VALUES:
            raise DataError(
                f"'{self._path}' has more than {MOST_DEEP} levels of elements, or {MOST_VALUES:,} in one of them."
            )
        self._builder.start(name, attributes)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if self._depth:
            self._builder.end(tag.rpartition("}")[2])
        if self._depth == 1:
            self._complete.append(self._builder.close())
            self._builder = TreeBuilder()
            self._elements = 0
            self._begun = self._parser.CurrentByteIndex

    def _data(self, text: str) -> None:
        if self._depth > 1:
            self._builder.data(text)

    def _refuse_type(self, *declaration: object) -> None:
        raise DataError(f"'{self._path}' declares a document type, which Wikipedia's dumps do not.")
