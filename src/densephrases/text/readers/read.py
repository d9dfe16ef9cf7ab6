"""Documents from files and folders of all supported formats."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from densephrases.errors import ConfigError, DataError, MissingExtraError
from densephrases.text.documents import Document, Skipped, SourceFile
from densephrases.text.readers.archives.epub import read_epub
from densephrases.text.readers.archives.mail import read_eml
from densephrases.text.readers.archives.mbox import read_mbox
from densephrases.text.readers.archives.zim import read_zim
from densephrases.text.readers.decoded import read_decoded, read_undecoded
from densephrases.text.readers.files import (
    UNREADABLE,
    OnOpen,
    split_name,
)
from densephrases.text.readers.folders.found_files import FoundFile, Places, shown
from densephrases.text.readers.folders.left_out import Selection
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.folders.roots import Roots
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

LINK = "links"  # kind of a file that is skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How files are read.

    Attributes:
        strict: Whether the first file or record that cannot be read raises DataError.
        max_document: The most bytes of one document, decompressed.
        follow_links: Whether files that are links are read.
    """

    strict: bool = False
    max_document: int = MAX_DOCUMENT
    follow_links: bool = False

    def __post_init__(self) -> None:
        if self.max_document < 1:
            raise ConfigError(f"max_document={self.max_document} is not a positive number of bytes.")


def read_documents(
    paths: str | Path | Iterable[str | Path],
    *,
    strict: bool = False,
    report: ReadReport | None = None,
    max_document: int = MAX_DOCUMENT,
    follow_links: bool = False,
    roots: Roots | None = None,
    named: Mapping[str, Path] | None = None,
    selection: Selection | None = None,
) -> Generator[Document]:
    """The documents of files and of all files in folders, one at a time.

    The suffix decides the format; .gz, .xz and .bz2 may follow it. Plain text is kept unchanged, so offsets count the
    characters of the file. For all other formats the document is the extracted text. A document without an id gets
    the file's path below the given folder, after the folder's name if there are several.

    What cannot be read is skipped and counted in `report`; `strict` raises DataError instead. A path that does not
    exist raises it at once; paths without any document raise it after the last one was read.

    Args:
        paths: Files and folders, or one of them.
        strict: Raise DataError at the first file or record that cannot be read.
        report: Counts what was read, skipped and left out.
        max_document: The most bytes of one document, decompressed. Larger ones are skipped without being read whole.
        follow_links: Read what symbolic links inside folders lead to. By default they are skipped: a link may lead to
            any file of the machine. A link that is itself one of `paths` is always followed.
        roots: Those of the index that the documents are for: `index.roots`. Files below them keep their ids.
        named: Further folders, by the names with which the ids of their documents shall begin.
        selection: Which files below folders are read; by default source code, dependencies, build outputs,
            configuration and hidden files are left out.
    """
    options = ReadOptions(strict=strict, max_document=max_document, follow_links=follow_links)
    places = Places.from_paths(_paths(paths), known=roots, named=named, selection=selection, follow_links=follow_links)
    return _read_all(places, options, ReadReport() if report is None else report)


def _paths(paths: object) -> list[Path]:
    several: list[Any] = list(paths) if isinstance(paths, Iterable) and not isinstance(paths, str | Path) else [paths]
    if strange := [each for each in several if not isinstance(each, str | Path)]:
        raise DataError(f"{strange[0]!r} is no path; expected names of files and folders, such as 'notes'.")
    return [Path(each) for each in several]


def _read_all(places: Places, options: ReadOptions, report: ReadReport) -> Generator[Document]:
    found = False
    for document in read_files(places.files(report), options, report):
        found = True
        yield document
    if not found:
        raise DataError(nothing_found(places.places, report))


def read_files(files: Iterable[FoundFile], options: ReadOptions, report: ReadReport) -> Generator[Document]:
    """The documents of files, each with what is known of its file."""
    for file in files:
        size = file.text_bytes()  # as it was expected, whatever happens to the file meanwhile
        report.begin(size)
        items = _read_file(file, report.open, options)
        yield from _kept(items if options.strict else _lenient(items, file.path), file.path, options.strict, report)
        report.finish(size)


def _kept(items: Iterator[Document | Skipped], path: Path, strict: bool, report: ReadReport) -> Iterator[Document]:
    seen, several = False, split_name(path)[1] in _STREAMS
    for item in items:
        seen = True
        checked = _checked(item, path)
        if isinstance(checked, Skipped):
            if strict:
                raise DataError(str(checked))
            report.skip(checked)
        elif not checked.text.strip():
            report.skip_empty(f"{shown(path)}, {checked.id}" if several else shown(path))
        else:
            report.documents += 1
            yield checked
    if not seen:
        report.skip_empty(shown(path))


def _checked(item: Document | Skipped, path: Path) -> Document | Skipped:
    if isinstance(item, Skipped):
        return item
    try:
        for value in (item.id, item.title, item.text):
            value.encode()
    except UnicodeEncodeError:  # valid in JSON, but not encodable
        return Skipped(str(path), f"has half a surrogate pair, which is not text, in document {item.id!a}.")
    return item


def _read_file(file: FoundFile, on_open: OnOpen, options: ReadOptions) -> Iterator[Document | Skipped]:
    """The documents of a file, up to the first part that cannot be read."""
    path = file.path
    if str(path) != shown(path):
        raise DataError(f"'{shown(path)}' has a name that is not UTF-8.")
    try:
        if file.inside and not options.follow_links and path.is_symlink():
            raise DataError(
                f"'{path}' is a link, which may lead anywhere; give --follow-links to read such files.", LINK
            )
        if not path.is_file():
            raise DataError(f"'{path}' is neither a regular file nor a folder.")
        source = file.source()  # before it is read: a change meanwhile shows later
        if source.size:
            for item in _documents(file, on_open, options.max_document):
                yield item if isinstance(item, Skipped) else _from_file(item, source)
    except UNREADABLE as error:
        raise DataError(f"'{path}' cannot be read: {error}.") from error


def _from_file(document: Document, source: SourceFile) -> Document:
    return replace(document, file=source, metadata={**source.metadata(), **document.metadata})


def _documents(file: FoundFile, on_open: OnOpen, limit: int) -> Iterator[Document | Skipped]:
    path, name = file.path, file.name
    if file.lines is not None:
        return read_json_lines(path, name, on_open, limit, file.lines)
    stem, suffix = split_name(path)
    suffix = suffix or stem.lower()  # mailboxes are often called just so
    if suffix in _STREAMS:
        return _STREAMS[suffix](path, name, on_open, limit)
    return _WHOLE.get(suffix, _read_plain)(path, name, limit)


def _lenient(items: Iterator[Document | Skipped], path: Path) -> Iterator[Document | Skipped]:
    try:
        yield from items
    except (DataError, MissingExtraError) as error:
        kind = error.kind if isinstance(error, DataError) else "need an extra"
        yield Skipped(shown(path), str(error).removeprefix(f"'{shown(path)}' "), kind)


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


def nothing_found(places: Iterable[Path], report: ReadReport) -> str:
    names = ", ".join(f"'{place}'" for place in places)
    formats = " ".join([*_PLAIN[1:], *_WHOLE, *_STREAMS])
    left_out = f", left out: {left} (see --all-files)" if (left := report.left_out.total()) else ""
    first = f", the first: {report.examples[0]}" if report.examples else "."
    return (
        f"No documents in {names or 'no paths at all'}; expected files with text ({formats}). "
        f"Empty: {report.empty}, skipped: {report.skipped}{left_out}{first}"
    )
