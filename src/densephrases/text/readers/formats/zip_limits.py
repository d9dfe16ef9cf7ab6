"""ZIP files that hold a document, refused before they are unpacked if they are bombs, encrypted or damaged."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from densephrases.errors import DataError
from densephrases.text.readers.files import is_compressed, open_file, read_whole
from densephrases.text.readers.limits import FREE_EXPANSION, MOST_EXPANSION, MOST_VALUES, too_large

_PARSED = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx")
_MOST_MEMBERS = 100_000
_ENCRYPTED = 1  # bit of a member's flags
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # how Office's old formats begin, and new ones with a password


@contextmanager
def open_zip(path: Path, limit: int, *, streamed: str = "\0") -> Iterator[ZipFile]:
    """A ZIP file whose texts together have at most `limit` bytes; those below `streamed` are bounded by their ratio."""
    with open_file(path) as file:
        _refuse_ole(file.peek(len(_OLE)), path)
        source = BytesIO(read_whole(file, path, limit)) if is_compressed(path) else file
        try:
            with ZipFile(source) as archive:
                _refuse_bomb(archive.infolist(), path, limit, streamed)
                yield archive
        except (
            BadZipFile,
            NotImplementedError,
            EOFError,
            zlib.error,
        ) as error:  # damaged, or compressed by a method nobody uses
            raise DataError(f"'{path}' is damaged or of another format: {error}.") from error


def _refuse_ole(head: bytes, path: Path) -> None:
    if head.startswith(_OLE):
        raise DataError(
            f"'{path}' has a password or is of Office's old format; save it without one, in the new format."
        )


def _refuse_bomb(members: list[ZipInfo], path: Path, limit: int, streamed: str) -> None:
    if len(members) > _MOST_MEMBERS:
        raise DataError(f"'{path}' has more than {_MOST_MEMBERS:,} members.")
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise DataError(f"'{path}' is encrypted; save it without a password.")
    parsed = [member for member in members if member.filename.lower().endswith(_PARSED)]
    if sum(member.file_size for member in parsed if not member.filename.startswith(streamed)) > limit:
        raise DataError(f"'{path}' {too_large(limit)}.")
    for member in parsed:
        if member.file_size > FREE_EXPANSION and member.file_size > MOST_EXPANSION * member.compress_size:
            raise DataError(
                f"'{path}' has a part that expands to more than {MOST_EXPANSION} times its size, as no text does."
            )


def refuse_costly_xml(archive: ZipFile, path: Path) -> None:
    """Entities may expand without end, and each element takes a hundred times its bytes in memory."""
    for member in archive.infolist():
        if member.filename.lower().endswith((".xml", ".rels")):
            content = archive.read(member)
            if b"<!ENTITY" in content:
                raise DataError(f"'{path}' defines entities, which no document of its format does.")
            if content.count(b"<") > 4 * MOST_VALUES:
                raise DataError(f"'{path}' has a part with more than {2 * MOST_VALUES:,} elements.")
