"""The files to read: those that are given, and those below given folders."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from densephrases.errors import DataError
from densephrases.text.documents import SourceFile
from densephrases.text.readers.decoded import is_binary
from densephrases.text.readers.files import is_compressed, split_name, walk
from densephrases.text.readers.folders.left_out import Selection
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.folders.roots import Root, Roots, whole_path
from densephrases.text.readers.line_ranges import LineRange

NO_PLAIN_TEXT = frozenset(
    ".pdf .docx .pptx .xlsx .xlsm .odt .ods .odp .epub .zim .png .jpg .jpeg .tif .tiff .webp".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, by the path at which it was found and by its whole path.

    Attributes:
        inside: Whether it was found in a folder, and not given itself.
        lines: The part of it that is meant, if not all.
    """

    path: Path
    whole: Path
    root: Root
    inside: bool = True
    lines: LineRange | None = None

    @property
    def name(self) -> str:
        """The id of a document that has none of its own."""
        return self.root.prefix + self.below

    @property
    def below(self) -> str:
        return self.whole.relative_to(self.root.folder).as_posix()

    def text_bytes(self) -> int:
        """As the function does, of the part that is meant."""
        return text_bytes(self.path) if self.lines is None else self.lines.stop - self.lines.start

    def source(self) -> SourceFile:
        """As it is now; raises OSError if it is not there any more."""
        state = self.path.stat()
        return self.root.source(self.whole, state.st_mtime_ns, state.st_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Files and folders to read, the roots they belong to, and which files below the folders are meant."""

    places: tuple[Path, ...]
    roots: Roots
    selection: Selection = field(default_factory=Selection)
    follow_links: bool = False

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[Path],
        *,
        known: Roots | None = None,
        named: Mapping[str, Path] | None = None,
        selection: Selection | None = None,
        follow_links: bool = False,
    ) -> "Places":
        """Raises DataError if one does not exist, or if its ids would be those of others.

        Args:
            paths: Files and folders.
            known: The roots of the index that the documents are for.
            named: Folders that are read as well, by the names that their roots shall have.
            selection: Which files below folders are read.
            follow_links: Whether symbolic links inside folders are followed.
        """
        places = tuple(paths)
        for place in places:
            if not _exists(place):
                raise DataError(f"'{shown(place)}' does not exist; expected a file or a folder of documents.")
        roots = (known or Roots()).with_places(places, named)
        places += tuple((named or {}).values())
        return cls(places=places, roots=roots, selection=selection or Selection(), follow_links=follow_links)

    def files(self, report: ReadReport | None = None) -> Iterator[FoundFile]:
        """Each once; what is left out is counted in the report."""
        seen: set[Path] | None = set() if self._overlap() else None
        for place in self.places:
            for file in self._below(place, report) if place.is_dir() else [self._file(place)]:
                if seen is None:
                    yield file
                elif file.whole not in seen:
                    seen.add(file.whole)
                    yield file

    def contain(self, whole: Path) -> bool:
        """Whether a file is one of these, or below one of these folders."""
        return any(whole.is_relative_to(whole_path(place)) for place in self.places)

    def _below(self, folder: Path, report: ReadReport | None) -> Iterator[FoundFile]:
        whole = folder.resolve()

        def wanted(path: Path, is_folder: bool) -> bool:
            kind = self.selection.left_out(path, path.relative_to(folder).as_posix(), is_folder)
            if kind is not None and report is not None:
                report.leave_out(shown(path), kind)
            return kind is None

        for path in walk(folder, follow_links=self.follow_links, wanted=wanted):
            yield self._found(path, whole / path.relative_to(folder), inside=path != folder)

    def _file(self, place: Path) -> FoundFile:
        return self._found(place, whole_path(place), inside=False)

    def _found(self, path: Path, whole: Path, *, inside: bool) -> FoundFile:
        root = self.roots.of(whole)
        assert root is not None
        return FoundFile(path, whole, root, inside)

    def _overlap(self) -> bool:
        wholes: Sequence[Path] = [whole_path(place) for place in self.places]
        return any(i != j and a.is_relative_to(b) for i, a in enumerate(wholes) for j, b in enumerate(wholes))


def text_bytes(path: Path) -> int:
    """The size of a file, or 0 if it will be skipped unread."""
    try:
        if not path.is_file() or (
            split_name(path)[1] not in NO_PLAIN_TEXT and not is_compressed(path) and is_binary(path)
        ):
            return 0
        return path.stat().st_size
    except OSError:
        return 0


def kind_of(path: Path | str) -> str:
    """The suffix by which it is read, with that of a compression: files of a kind have much the same share of text."""
    name = Path(path)
    suffix = split_name(name)[1]
    return f"{suffix}{name.suffix.lower()}" if is_compressed(name) else suffix


def shown(path: Path) -> str:
    """The path as printable text, whatever bytes are in it."""
    return str(path).encode(errors="backslashreplace").decode()


def _exists(place: Path) -> bool:
    try:
        return place.exists()
    except (OSError, ValueError):  # too long, or with a null character
        return False
