"""An index folder and the model of its vectors: reading, adding, replacing and deleting documents."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Self

from densephrases.errors import PhraseIndexError
from densephrases.index.disk_usage import DiskUsage
from densephrases.index.files.durable import FileStamp, file_stamp
from densephrases.index.fitted_confidence import CONFIDENCE_FILE
from densephrases.index.folder import IndexFolder
from densephrases.index.info import IndexInfo
from densephrases.index.manifest import MANIFEST_FILE
from densephrases.index.progress import Progress, ProgressCallback
from densephrases.index.sync.folder_sync import Changes, FolderSync
from densephrases.index.sync.options import SyncOptions
from densephrases.model.encoder import Encoder
from densephrases.search.collection.stored_documents import StoredDocument, stored_documents
from densephrases.search.filtering.filters import Filter, Where
from densephrases.search.searcher import Searcher
from densephrases.text.documents import Document
from densephrases.text.readers.folders.read_report import ReadReport
from densephrases.text.readers.folders.roots import Roots


class Collection:
    """What `PhraseIndex` does with documents, apart from answering questions."""

    def __init__(self, folder: IndexFolder, encoder: Encoder) -> None:
        folder.settings.refuse_other_model(encoder)
        self._folder: IndexFolder | None = folder
        self._path = folder.folder
        self.encoder = encoder
        self._searcher: Searcher | None = None
        self._searcher_lock = Lock()

    @property
    def folder(self) -> IndexFolder:
        """The folder on disk; a closed index has none."""
        if self._folder is None:
            raise PhraseIndexError(f"The index '{self._path}' is closed; open it again with PhraseIndex.open.")
        return self._folder

    def close(self) -> None:
        """Let go of the files, as the end of a `with` block does; searches that are under way end as usual."""
        with self._changing():
            self._folder = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, documents: Iterable[Document], progress: ProgressCallback | None = None) -> Progress:
        """Add documents; those already indexed with the same content are skipped."""
        with self._changing():
            return self.folder.add(documents, self.encoder, progress)

    def update(
        self,
        documents: Iterable[Document],
        progress: ProgressCallback | None = None,
        *,
        replace_others: bool = False,
    ) -> Progress:
        """Add documents, replacing those whose content has changed.

        A file that would replace a document of another folder, or one that came from no known file, raises DataError
        unless `replace_others`.
        """
        with self._changing():
            return self.folder.update(documents, self.encoder, progress, replace_others=replace_others)

    def sync(
        self, *paths: str | Path, report: ReadReport | None = None, dry_run: bool = False, **options: Any
    ) -> Changes:
        """Bring the index in step with files and folders: add new files, replace changed ones, delete vanished ones.

        Documents that came from elsewhere stay. Unchanged files are not read.

        Args:
            paths: Files and folders; those below `roots` keep their ids.
            report: Counts what was read, skipped and left out.
            dry_run: Whether to tell only what would be done.
            options: Fields of `SyncOptions`, such as `follow_links=True`.
        """
        run = FolderSync(self.folder, paths, SyncOptions.from_options(options), report or ReadReport())
        if dry_run:
            return run.preview()
        with self._changing():
            return run.apply(self.encoder)

    @property
    def roots(self) -> Roots:
        """The folders that documents came from."""
        return self.folder.roots

    def documents(self, where: Where | None = None, ids: Iterable[str] | None = None) -> Iterator[StoredDocument]:
        """All documents, or those with some metadata or ids, without their texts until these are asked for.

        Examples:
            >>> for document in index.documents(where={"type": "pdf"}):
            ...     print(document.id, document.title, len(document.text))
        """
        return stored_documents(self.folder.snapshot, Filter.from_conditions(where, ids))

    def delete(self, ids: Iterable[str]) -> int:
        """Delete documents by id; if one id is unknown, none is deleted."""
        with self._changing():
            return self.folder.delete(ids)

    def optimize(self, segments: int = 1) -> None:
        """Merge segments and drop deleted documents; `segments` of them are left at least, for a cluster to serve."""
        with self._changing():
            self.folder.optimize(segments)

    def refresh(self) -> None:
        """Load what other processes have written."""
        with self._changing():
            self.folder.refresh()

    def check(self) -> list[str]:
        """Verify the checksum of every file; one sentence for each damaged one."""
        return self.folder.check()

    def info(self) -> IndexInfo:
        """What the index contains, and how it was made."""
        return self.folder.info()

    def disk_usage(self) -> DiskUsage:
        """How many bytes of the folder each kind of data takes."""
        return self.folder.disk_usage()

    def document(self, identifier: str) -> Document | None:
        return self.folder.find(identifier)

    def __len__(self) -> int:
        return self.folder.documents

    @property
    def path(self) -> Path:
        return self._path

    @property
    def vectors(self) -> int:
        return self.folder.vectors

    def sample(self, count: int) -> Iterator[Document]:
        return self.folder.sample(count)

    def state(self) -> tuple[FileStamp | None, ...]:
        """Changes whenever the manifest or fitted confidences are replaced."""
        return tuple(file_stamp(self.path / name) for name in (MANIFEST_FILE, CONFIDENCE_FILE))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Searches that are under way keep their searcher, and so the files that a change may remove."""
        try:
            yield
        finally:
            with self._searcher_lock:
                self._searcher = None
