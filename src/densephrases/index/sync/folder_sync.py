"""What has changed below folders since an index read them, and the documents that bring it up to date."""

import stat
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from densephrases.errors import DataError
from densephrases.index.build.origins import refuse_other_origin
from densephrases.index.folder import IndexFolder
from densephrases.index.progress import ProgressCallback
from densephrases.index.segment.document_keys import PreparedDocument
from densephrases.index.sync.known_files import FileKey, KnownFile, KnownFiles
from densephrases.index.sync.options import SyncOptions
from densephrases.model.encoder import Encoder
from densephrases.text.documents import Document, SourceFile
from densephrases.text.readers.folders.found_files import FoundFile, Places
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.folders.roots import whole_path
from densephrases.text.readers.read import read_files

_MANY_GONE = 2  # files of a folder that are not deleted together unless it is said that they may


@dataclass(slots=True)
class Changes:
    """What a sync does or would do.

    Attributes:
        added: Ids of new documents.
        replaced: Ids of documents with another content than before.
        deleted: Ids of documents whose file, or whose record in it, is gone.
        unchanged: Documents that stay as they are.
        deferred: Files that were modified just now, and are left for later.
    """

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    unchanged: int = 0
    deferred: int = 0

    @property
    def any(self) -> bool:
        return bool(self.added or self.replaced or self.deleted)


class FolderSync:
    """Finds the files that are new or changed when it is made; `documents` reads them.

    A file of the same size and date as when it was read is unchanged. The content of others is compared, so that a file
    which was only touched is not encoded again. With `prune`, files that the index knows are kept in step also where
    they would be left out now. A file that cannot be read keeps its documents.

    Args:
        folder: The index.
        paths: Files and folders. Those below the roots of the index keep their ids.
        options: What is read, and what is done.
        report: Counts what was read, skipped and left out.
    """

    def __init__(
        self, folder: IndexFolder, paths: Iterable[str | Path], options: SyncOptions, report: ReadReport
    ) -> None:
        self.changes = Changes()
        self.report = report
        self.options = options
        self.places = Places.from_paths(
            map(Path, paths),
            known=folder.roots,
            named=options.named,
            selection=options.selection,
            follow_links=options.follow_links,
        )
        self._folder = folder
        self._snapshot = folder.snapshot
        self._known = KnownFiles(self._snapshot, scan=options.prune)
        self._settled_ns = time.time_ns() - int(options.settle_seconds * 1e9)
        self._present: set[FileKey] = set()
        self._gone: list[KnownFile] = []
        self._read_ids: set[str] = set()
        self._stale: list[str] = []
        self.files = [file for file in self._all_files() if self._is_wanted(file)]
        self._refuse_empty()

    def apply(self, encoder: Encoder, progress: ProgressCallback | None = None) -> Changes:
        """Add, replace and delete."""
        self._folder.update(self.documents(), encoder, progress, replace_others=self.options.replace_others)
        self.delete()
        return self.changes

    def preview(self) -> Changes:
        """What `apply` would do."""
        deque(self.documents(), maxlen=0)
        return self.changes

    def delete(self) -> int:
        """After all documents were read: delete those that are gone."""
        there = self._folder.snapshot.locate(self.changes.deleted)
        return self._folder.delete(there) if there else 0

    def documents(self) -> Generator[Document]:
        """Those of new and changed files; what is to be deleted is known after the last one."""
        for file in self.files:
            skipped, ids = self.report.skipped, set()
            for document in read_files([file], self.options.reading, self.report):
                ids.add(document.id)
                self._classify(document)
                yield document
            self._read_ids |= ids
            if (known := self._known.get(_key(file))) is not None and self.report.skipped == skipped:
                self._stale += (each for each in self._known.ids(known) if each not in ids)
        self.changes.deleted = sorted(self._deletable()) if self.options.prune else []

    def _refuse_empty(self) -> None:
        """A drive that is not mounted is an empty folder; the last file of a folder may well be deleted."""
        if not self.options.prune or self.options.allow_empty or len(self._gone) < _MANY_GONE:
            return
        gone = [self._whole(known.source.root, known.source.path) for known in self._gone]
        present = [self._whole(*key) for key in self._present]
        for place in self.places.places:
            whole = whole_path(place)
            missing = sum(path.is_relative_to(whole) for path in gone)
            if missing >= _MANY_GONE and not any(path.is_relative_to(whole) for path in present):
                raise DataError(
                    f"All {missing:,} files that the index has from '{place}' are gone; if that is so, give "
                    "--allow-empty to delete their documents, else see whether a drive is missing."
                )

    def _whole(self, root: str, path: str) -> Path:
        found = self.places.roots.named(root)
        assert found is not None
        return found.folder / path

    def _deletable(self) -> set[str]:
        """A document that is now in another file stays."""
        gone = {each for known in self._gone for each in self._known.ids(known)}
        return (gone | set(self._stale)) - self._read_ids

    def _all_files(self) -> Iterator[FoundFile]:
        """Those that are found, and those that the index knows and that would be left out."""
        for file in self.places.files(self.report):
            self._present.add(_key(file))
            yield file
        for key, known in list(self._known.files.items()) if self.options.prune else ():
            if key not in self._present and (still := self._known_file(known)) is not None:
                yield still

    def _known_file(self, known: KnownFile) -> FoundFile | None:
        """None if it is not below the places, or gone."""
        root = self.places.roots.named(known.source.root)
        if root is None or not self.places.contain(whole := root.folder / known.source.path):
            return None
        try:
            is_there = not stat.S_ISDIR(whole.lstat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            is_there = False
        except OSError:  # no permission: it may be there
            return None
        if is_there:
            self._present.add((root.name, known.source.path))
            return FoundFile(whole, whole, root)
        self._gone.append(known)
        return None

    def _is_wanted(self, file: FoundFile) -> bool:
        """Whether it must be read."""
        try:
            source = file.source()
        except OSError:  # reading it reports the error
            return True
        known = self._known.get(_key(file))
        if known is not None and known.is_same(source):
            self.changes.unchanged += known.documents
            return False
        if self._is_unsettled(source):
            self.changes.deferred += 1
            return False
        return True

    def _is_unsettled(self, source: SourceFile) -> bool:
        return self._settled_ns < source.modified_ns <= time.time_ns()

    def _classify(self, document: Document) -> None:
        place = self._snapshot.locate([document.id]).get(document.id)
        if place is None:
            self.changes.added.append(document.id)
        elif int(self._snapshot.segments[place.segment].digests[place.document]) == _digest(document):
            self.changes.unchanged += 1
        else:
            if not self.options.replace_others:
                refuse_other_origin(document, self._snapshot.segments[place.segment].record(place.document))
            self.changes.replaced.append(document.id)


def _digest(document: Document) -> int:
    return PreparedDocument.from_document(document).digest


def _key(file: FoundFile) -> FileKey:
    return file.root.name, file.below
