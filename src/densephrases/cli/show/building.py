"""Progress and summary of indexing, shown to a person."""

import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn, Self

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.markup import escape
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from densephrases.cli.lines import counted
from densephrases.cli.show.expected_text import ExpectedText
from densephrases.cli.show.skipped import tell_skipped
from densephrases.cli.show.time_left import InputPosition, TimeLeft, in_words
from densephrases.errors import DataError
from densephrases.index.folder import IndexFolder
from densephrases.index.info import IndexInfo
from densephrases.index.manifest import MANIFEST_FILE, Manifest
from densephrases.index.progress import Progress
from densephrases.index.sync.folder_sync import Changes
from densephrases.index.sync.options import SyncOptions
from densephrases.text.documents import Document
from densephrases.text.readers.folders.found_files import FoundFile, Places, kind_of
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.folders.roots import Roots
from densephrases.text.readers.read import nothing_found, read_files

console = Console(stderr=True, highlight=False)

_POSITIONS = 10_000
_LINE_SECONDS = 60.0  # between the lines that replace the bar where there is no terminal
_MAIN = threading.main_thread()


class Building:
    """Passes the documents to index on and shows progress on stderr: a bar, or a line per minute without a terminal.

    Ctrl-C writes what is encoded and ends the command with a sentence that says how to resume; a second one ends the
    process at once, which costs only what is not committed.
    """

    def __init__(
        self,
        folder: Path,
        source: Generator[Document],
        files: Sequence[FoundFile],
        report: ReadReport,
    ) -> None:
        self.folder = folder
        self.report = report
        self.done = Progress()
        self._stopping = self._all_read = self._handles = False
        self._resumed = _documents_of_unfinished(folder)
        self._source = source
        self._first = list(islice(source, 1))
        self._bar = _bar(self)
        self._expected = ExpectedText(files)
        self._task = self._bar.add_task("indexing", total=self._expected.total or None)
        self._position = InputPosition()
        self._time_left = TimeLeft(self._expected.total)
        self._left: float | None = None
        self._told = 0.0

    def __enter__(self) -> Self:
        # Not if the signal is ignored, as in background jobs, nor in a thread, which cannot handle signals.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler and threading.current_thread() is _MAIN:
            signal.signal(signal.SIGINT, self._interrupt)
            self._handles = True
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        self._source.close()
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if isinstance(error, KeyboardInterrupt):
            _explain_stop(self.folder)

    def _interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        if self._stopping:
            _end_at_once()
        self._stopping = True
        raise KeyboardInterrupt

    def documents(self) -> Iterator[Document]:
        if self._resumed is not None:
            there = counted(self._resumed, "document")
            self._say(f"Resuming the unfinished index in '{self.folder}', which has {there}.")
        for document in chain(self._first, self._source):
            kind = "" if document.file is None else kind_of(document.file.path)
            self._expected.read(self.report.bytes, kind, len(document.text))
            self._position.read(len(document.text))
            if len(self._position) > _POSITIONS:  # most are in the index already
                self._position.pass_documents(self._position.passed + 1)
            yield document
        self._all_read = True

    def reported(self, progress: Progress) -> None:
        """Advance the bar to what is encoded, not to the last document read."""
        self.done = progress
        self._position.pass_documents(progress.documents + progress.unchanged)
        position = self._position.characters(progress.unfinished)
        self._time_left.total = self._expected.total
        self._left = self._time_left.at(progress.seconds, position)
        self._bar.update(self._task, completed=position, total=self._expected.total or None)
        if self._bar.disable and progress.seconds - self._told >= _LINE_SECONDS:
            self._told = progress.seconds
            self._say(", ".join([self.state, *([self.left] if self.left else [])]))

    @property
    def left(self) -> str:
        """How long it will still take, if that can be told."""
        return "" if self._left is None or self._stopping or self._is_merging else in_words(self._left)

    @property
    def _is_merging(self) -> bool:
        return self._all_read and self._position.passed == self.report.documents

    @property
    def state(self) -> str:
        if self._stopping:
            return "stopping: writing what is encoded"
        if self._is_merging:
            return "merging"
        if not self.done.tokens:
            return f"{counted(self.report.documents, 'document')} read"
        seconds = max(self.done.seconds, 1e-9)
        speed = f"{self.done.tokens / seconds:,.0f} tokens/s"
        documents = counted(self.done.documents, "document")
        if self.done.unfinished:
            return f"{documents} and {self._position.share(self.done.unfinished):.0%} of the next, {speed}"
        if not self.done.documents:
            return f"{counted(self.done.tokens, 'token')} of the first document, {speed}"
        return f"{documents}, {self.done.documents / seconds:,.1f} documents/s, {speed}"

    def summarise(self, info: IndexInfo, changes: Changes | None = None) -> str:
        """One line about the result; skipped files and records are told on stderr."""
        done, report = self.done, self.report
        tell_skipped(report, self._bar.console)
        parts = [
            counted(done.passages, "passage"),
            f"{counted(done.tokens, 'token')}, {done.vectors:,} of them kept",
            f"index of {counted(info.documents, 'document')} and {decimal(info.bytes)}",
            f"{done.seconds:,.1f} s",
        ]
        unchanged, deleted = (done.unchanged, 0) if changes is None else (changes.unchanged, len(changes.deleted))
        counts = {"replaced": done.replaced, "deleted": deleted, "unchanged": unchanged, "skipped": report.skipped}
        parts += [f"{count:,} {name}" for name, count in counts.items() if count]
        parts += [f"{report.empty:,} without text"] * bool(report.empty)
        return f"{counted(done.documents, 'document')} indexed: {', '.join(parts)}"

    def _say(self, sentence: str) -> None:
        self._bar.console.print(escape(sentence), soft_wrap=True)


def _bar(building: Building) -> Bar:
    columns = (TextColumn("{task.description}"), BarColumn(), _State(building))
    times = (TimeElapsedColumn(), _Left(building))
    unseen = not console.is_terminal  # the bar would leave an empty line
    return Bar(*columns, *times, console=console, transient=True, disable=unseen)


class _State(ProgressColumn):
    def __init__(self, building: Building) -> None:
        super().__init__()
        self._building = building

    def render(self, task: Task) -> Text:
        return Text(self._building.state)


class _Left(ProgressColumn):
    def __init__(self, building: Building) -> None:
        super().__init__()
        self._building = building

    def render(self, task: Task) -> Text:
        return Text(self._building.left)


def source_of(
    folder: Path, paths: Sequence[Path], options: SyncOptions, report: ReadReport
) -> tuple[Generator[Document], list[FoundFile]]:
    """The documents of files and folders for a new index, and their files; none at all raises DataError.

    So paths without any document leave no index behind.
    """
    refuse_inside(folder, [*paths, *options.named.values()])
    unfinished = Manifest.load(folder).roots if (folder / MANIFEST_FILE).is_file() else {}
    places = Places.from_paths(
        paths,
        known=Roots.from_recorded(unfinished),
        named=options.named,
        selection=options.selection,
        follow_links=options.follow_links,
    )
    files = list(places.files(report))
    documents = read_files(files, options.reading, report)
    first = next(documents, None)
    if first is None:
        raise DataError(nothing_found(places.places, report))
    return _again(first, documents), files


def _again(first: Document, rest: Generator[Document]) -> Generator[Document]:
    with closing(rest):
        yield first
        yield from rest


def refuse_inside(folder: Path, paths: Sequence[Path]) -> None:
    """An index inside its own documents would be indexed by the next run."""
    for path in paths:
        if path.is_dir() and folder.resolve().is_relative_to(path.resolve()):
            raise DataError(f"The index '{folder}' lies in '{path}', which is to be indexed; give a folder outside it.")


def _documents_of_unfinished(folder: Path) -> int | None:
    if not (folder / MANIFEST_FILE).is_file():
        return None
    index = IndexFolder.open(folder)
    return index.documents if index.manifest.building else None


def _end_at_once() -> NoReturn:
    """Without the end of the interpreter, which running threads of the encoder would turn into a crash."""
    cursor = "\x1b[?25h\n" if console.is_terminal else ""  # the bar hides it
    os.write(2, f"{cursor}Stopped at once. What is committed is kept; run the same command again to resume.\n".encode())
    os._exit(130)


def _explain_stop(folder: Path) -> NoReturn:
    index = IndexFolder.open(folder) if (folder / MANIFEST_FILE).is_file() else None
    there = counted(0 if index is None else index.documents, "document")
    parts = [] if index is None else index.manifest.unfinished[-1:]
    begun = "".join(f" and the first {part.characters:,} characters of '{part.document}'" for part in parts)
    console.print(
        escape(f"Stopped. The index has {there}{begun}; run the same command again to resume."), soft_wrap=True
    )
    raise typer.Exit(130)
