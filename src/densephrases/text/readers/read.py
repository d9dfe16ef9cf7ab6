"""Documents from files and folders of all supported formats."""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from densephrases.errors import ConfigError, DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped
from densephrases.text.readers.archives.epub import read_epub
from densephrases.text.readers.archives.mail import read_eml
from densephrases.text.readers.archives.mbox import read_mbox
from densephrases.text.readers.archives.zim import read_zim
from densephrases.text.readers.decoded import is_binary, read_decoded, read_undecoded
from densephrases.text.readers.files import (
    UNREADABLE,
    OnOpen,
    is_compressed,
    split_name,
    walk,
)
from densephrases.text.readers.formats.csv_rows import read_table
from densephrases.text.readers.formats.docx import read_docx
from densephrases.text.readers.formats.images import read_image
from densephrases.text.readers.formats.opendocument import read_opendocument
from densephrases.text.readers.formats.pptx import read_pptx
from densephrases.text.readers.formats.xlsx import read_workbook
from densephrases.text.readers.jsonl import read_json, read_json_lines
from densephrases.text.readers.limits import MAX_DOCUMENT
from densephrases.text.readers.markdown import markdown_page
from densephrases.text.readers.pages.html import decode_html, html_page
from densephrases.text.readers.pages.html_limits import refuse_slow_page
from densephrases.text.readers.pages.pdf import pdf_document
from densephrases.text.readers.wikipedia import read_dump

_EXAMPLES = 100
_OF_ONE_KIND = 0.9


@dataclass(slots=True)
class ReadReport:
    """Counts of what was read and skipped; the first hundred skipped items are kept with their reasons."""

    documents: int = 0
    empty: int = 0  # files and records without any text
    skipped: int = 0  # files and records that cannot be read
    examples: list[Skipped] = field(default_factory=list)
    _finished: int = field(default=0, repr=False)  # bytes of the files that have been read
    _whole: int = field(default=0, repr=False)  # bytes of the one being read, if it is read at once
    _file: BinaryIO | None = field(default=None, repr=False, compare=False)  # the one being read

    @property
    def bytes(self) -> int:
        """How many of the `input_bytes` have been read."""
        if self._file is None:
            return self._finished + self._whole
        return self._finished + (0 if self._file.closed else self._file.tell())

    def begin(self, path: Path) -> None:
        """Unless the file is opened to be read bit by bit, all of it is read with its first document."""
        self._whole = _text_bytes(path)

    def open(self, file: BinaryIO) -> None:
        self._file = file

    def finish(self, path: Path) -> None:
        self._file, self._whole = None, 0
        self._finished += _text_bytes(path)

    def skip(self, skipped: Skipped) -> None:
        self.skipped += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(skipped)


def read_documents(
    paths: str | Path | Iterable[str | Path],
    *,
    strict: bool = False,
    report: ReadReport | None = None,
    max_document: int = MAX_DOCUMENT,
    follow_links: bool = False,
) -> Generator[Document]:
    """The documents of files and of all files in folders, one at a time.

    The suffix decides the format; .gz, .xz and .bz2 may follow it. Plain text is kept unchanged, so offsets count the
    characters of the file. For all other formats the document is the extracted text. A document
    without an id gets the file's path below the given folder.

    What cannot be read is skipped and counted in `report`; `strict` raises DataError instead. A path that does not
    exist raises it at once; paths without any document raise it after the last one was read.

    Args:
        paths: Files and folders, or one of them.
        strict: Raise DataError at the first file or record that cannot be read.
        report: Counts what was read and what was skipped.
        max_document: The most bytes of one document, decompressed. Larger ones are skipped without being read whole.
        follow_links: Read what symbolic links inside folders lead to. By default they are skipped: a link may lead to
            any file of the machine. A link that is itself one of `paths` is always followed.
    """
    places = _places(paths)
    if max_document < 1:
        raise ConfigError(f"max_document={max_document} is not a positive number of bytes.")
    for place in places:
        if not _exists(place):
            raise DataError(f"'{_shown(place)}' does not exist; expected a file or a folder of documents.")
    options = _Options(strict, max_document, follow_links)
    return _read_all(places, options, ReadReport() if report is None else report)


def _places(paths: object) -> list[Path]:
    several: list[Any] = list(paths) if isinstance(paths, Iterable) and not isinstance(paths, str | Path) else [paths]
    if strange := [each for each in several if not isinstance(each, str | Path)]:
        raise DataError(f"{strange[0]!r} is no path; expected names of files and folders, such as 'notes'.")
    return [Path(each) for each in several]


@dataclass(frozen=True, slots=True)
class _Options:
    strict: bool
    limit: int
    follow_links: bool


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def input_bytes(paths: Iterable[Path], *, follow_links: bool = False) -> int | None:
    """The size of all files that may contain text, or None if it does not predict the amount of text.

    A compressed byte stands for several characters and a byte of a PDF for hardly any, so bytes measure progress only
    if nearly all files are of one kind.
    """
    sizes: Counter[str] = Counter()
    for place in paths:
        for path, _ in _files(place, follow_links):
            sizes[_kind(path)] += _text_bytes(path)
    total = sizes.total()
    main = max(("text", "compressed"), key=sizes.__getitem__)
    return total if total and sizes[main] >= _OF_ONE_KIND * total else None


def _kind(path: Path) -> str:
    if split_name(path)[1] in _NO_PLAIN_TEXT:
        return "other"
    return "compressed" if is_compressed(path) else "text"


def _text_bytes(path: Path) -> int:
    """The size of a file, or 0 if it will be skipped unread."""
    try:
        if not path.is_file() or (_kind(path) == "text" and is_binary(path)):
            return 0
        return path.stat().st_size
    except OSError:
        return 0


def _read_all(places: list[Path], options: _Options, report: ReadReport) -> Generator[Document]:
    found = False
    for place in places:
        for path, name in _files(place, options.follow_links):
            report.begin(path)
            items = _read_file(path, name, report.open, options, inside=path != place)
            for document in _kept(items if options.strict else _lenient(items, path), path, options.strict, report):
                found = True
                yield document
            report.finish(path)
    if not found:
        raise DataError(_nothing_found(places, report))


def _files(place: Path, follow_links: bool) -> Iterator[tuple[Path, str]]:
    """Files, each with the id for a document that has none of its own."""
    if not place.is_dir():
        yield place, place.name
        return
    for path in walk(place, follow_links=follow_links):
        yield path, path.relative_to(place).as_posix()


def _kept(items: Iterator[Document | Skipped], path: Path, strict: bool, report: ReadReport) -> Iterator[Document]:
    seen = False
    for item in items:
        seen = True
        checked = _checked(item, path)
        if isinstance(checked, Skipped):
            if strict:
                raise DataError(str(checked))
            report.skip(checked)
        elif not checked.text.strip():
            report.empty += 1
        else:
            report.documents += 1
            yield checked
    report.empty += not seen


def _checked(item: Document | Skipped, path: Path) -> Document | Skipped:
    if isinstance(item, Skipped):
        return item
    try:
        for value in (item.id, item.title, item.text):
            value.encode()
    except UnicodeEncodeError:  # valid in JSON, but not encodable
        return Skipped(str(path), f"has half a surrogate pair, which is not text, in document {item.id!a}.")
    return item


def _read_file(
    path: Path, name: str, on_open: OnOpen, options: _Options, *, inside: bool
) -> Iterator[Document | Skipped]:
    """The documents of a file, up to the first part that cannot be read; `inside` says it was found in a folder."""
    if str(path) != _shown(path):
        raise DataError(f"'{_shown(path)}' has a name that is not UTF-8.")
    try:
        if inside and not options.follow_links and path.is_symlink():
            raise DataError(f"'{path}' is a link, which may lead anywhere; give --follow-links to read such files.")
        if not path.is_file():
            raise DataError(f"'{path}' is neither a regular file nor a folder.")
        if path.stat().st_size:
            yield from _documents(path, name, on_open, options.limit)
    except UNREADABLE as error:
        raise DataError(f"'{path}' cannot be read: {error}.") from error


def _documents(path: Path, name: str, on_open: OnOpen, limit: int) -> Iterator[Document | Skipped]:
    stem, suffix = split_name(path)
    suffix = suffix or stem.lower()  # mailboxes are often called just so
    if suffix in _STREAMS:
        return _STREAMS[suffix](path, name, on_open, limit)
    return _WHOLE.get(suffix, _read_plain)(path, name, limit)


def _lenient(items: Iterator[Document | Skipped], path: Path) -> Iterator[Document | Skipped]:
    try:
        yield from items
    except (DataError, MissingExtraError) as error:
        yield Skipped(_shown(path), str(error).removeprefix(f"'{_shown(path)}' "))


def _shown(path: Path) -> str:
    """The path as printable text, whatever bytes are in it."""
    return str(path).encode(errors="backslashreplace").decode()


def _read_plain(path: Path, name: str, limit: int) -> Iterator[Document]:
    stem, suffix = split_name(path)
    yield Document(name, read_decoded(path, limit), stem if suffix in _PLAIN else stem + suffix)


def _read_markdown(path: Path, name: str, limit: int) -> Iterator[Document]:
    page = markdown_page(read_decoded(path, limit))
    yield Document(name, page.text, page.title or split_name(path)[0], layout=page.layout)


def _read_html(path: Path, name: str, limit: int) -> Iterator[Document]:
    source = decode_html(read_undecoded(path, limit))
    refuse_slow_page(source, path)
    page = html_page(source)
    yield Document(name, page.text, page.title or split_name(path)[0], layout=page.layout)


def _read_pdf(path: Path, name: str, limit: int) -> Iterator[Document]:
    found = pdf_document(path, limit)
    yield Document(name, found.text, found.title or split_name(path)[0], layout=found.layout)


def _read_wikipedia(path: Path, name: str, on_open: OnOpen, limit: int) -> Iterator[Document | Skipped]:
    return read_dump(path, on_open, limit)


_PLAIN = ("", ".txt", ".text")
_NO_PLAIN_TEXT: dict[str, Callable[[Path, str, int], Iterator[Document | Skipped]]] = {
    ".pdf": _read_pdf,
    ".docx": read_docx,
    ".pptx": read_pptx,
    **dict.fromkeys((".xlsx", ".xlsm"), read_workbook),
    **dict.fromkeys((".odt", ".ods", ".odp"), read_opendocument),
    ".epub": read_epub,
    ".zim": read_zim,
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp"), read_image),
}
_WHOLE: dict[str, Callable[[Path, str, int], Iterator[Document | Skipped]]] = {
    **dict.fromkeys((".md", ".markdown"), _read_markdown),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _read_html),
    ".eml": read_eml,
    **_NO_PLAIN_TEXT,
}
_STREAMS: dict[str, Callable[[Path, str, OnOpen, int], Iterator[Document | Skipped]]] = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".json": read_json,
    **dict.fromkeys((".csv", ".tsv", ".tab"), read_table),
    **dict.fromkeys((".mbox", "mbox"), read_mbox),
    ".xml": _read_wikipedia,
}


def _nothing_found(places: list[Path], report: ReadReport) -> str:
    names = ", ".join(f"'{place}'" for place in places)
    formats = " ".join([*_PLAIN[1:], *_WHOLE, *_STREAMS])
    first = f", the first: {report.examples[0]}" if report.examples else "."
    return (
        f"No documents in {names or 'no paths at all'}; expected files with text ({formats}). "
        f"Empty: {report.empty}, skipped: {report.skipped}{first}"
    )
